//! Files of a job, to a file or to standard output.

use std::fs::{File, remove_file, rename};
use std::io::{ErrorKind, Write, copy, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ureq::Body;

/// Saves a body in a file that exists as a whole or not at all, or with `-` writes it to standard output.
pub(crate) fn save(body: Body, target: &Path) -> Result<()> {
    let mut reader = body.into_reader();
    if target == Path::new("-") {
        let mut output = stdout().lock();
        let written = copy(&mut reader, &mut output).and_then(|_| output.flush());
        return match written {
            // The reader of the pipe has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        };
    }
    // A device or a pipe, such as /dev/null, is not replaced.
    let is_replaced = target.metadata().map_or(true, |metadata| metadata.is_file());
    let path = if is_replaced { beside(target) } else { target.to_owned() };
    let written = File::create(&path).and_then(|mut file| copy(&mut reader, &mut file).and_then(|_| file.flush()));
    let written = written.and_then(|()| if is_replaced { rename(&path, target) } else { Ok(()) });
    if written.is_err() && is_replaced {
        // It is of no use, and may not exist.
        let _ = remove_file(&path);
    }
    written.with_context(|| format!("cannot write {}", target.display()))
}

/// Returns the path of the unfinished file.
fn beside(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    name.into()
}
