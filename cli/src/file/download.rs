//! Files of a job, to a file or to standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write, copy, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use ureq::Body;
use uuid::Uuid;

use crate::api::Api;
use crate::output::interrupt;

/// Checks before the job that a file can be written.
pub(crate) fn check(target: &Path) -> Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "the folder {} does not exist: create it first", folder.display());
    ensure!(!target.is_dir(), "{} is a folder: pass the name of a file", target.display());
    Ok(())
}

/// Saves the failed items of a job: as a workbook if the file's name ends with .xlsx, else as CSV.
pub(crate) fn failures(api: &Api, job_id: &str, target: &Path) -> Result<()> {
    let format = if has_extension(target, "xlsx") { "xlsx" } else { "csv" };
    let path = format!("{}/failures?format={format}", crate::output::documents::path("/api/jobs", job_id));
    save(api.file(&path, "reading the failures")?, target)
}

/// Returns true if the file's name has this extension, in any case.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

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
    let write = || match target.metadata() {
        // A device or a pipe, such as /dev/null, is not replaced.
        Ok(metadata) if !metadata.is_file() => {
            File::create(target).and_then(|mut file| copy(&mut reader, &mut file)).map(drop)
        }
        metadata => {
            let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
            let unfinished = beside(&target);
            interrupt::unfinished(Some(unfinished.clone()));
            let written = write_new(&unfinished, &mut reader).and_then(|()| {
                metadata.map_or(Ok(()), |metadata| fs::set_permissions(&unfinished, metadata.permissions()))?;
                fs::rename(&unfinished, &target)
            });
            interrupt::unfinished(None);
            if written.is_err() {
                // The first error is reported.
                let _ = fs::remove_file(&unfinished);
            }
            written
        }
    };
    let mut write = write;
    write().with_context(|| format!("cannot write {}", target.display()))
}

fn write_new(path: &Path, reader: &mut impl std::io::Read) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    copy(reader, &mut file)?;
    file.sync_all()
}

/// Returns a path beside the target that no other program uses.
fn beside(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}.part", Uuid::new_v4().simple()));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let target = folder.path().join("a.csv");
        let body = |text: &str| Body::builder().data(text.to_owned());
        save(body("one"), &target)?;
        save(body("two"), &target)?;
        assert_eq!(fs::read_to_string(&target)?, "two");
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        assert!(save(body("three"), &folder.path().join("none/a.csv")).is_err());
        assert!(check(&folder.path().join("none/a.csv")).is_err() && check(folder.path()).is_err());
        check(&target)?;
        assert!(has_extension(Path::new("A.XLSX"), "xlsx") && !has_extension(Path::new("xlsx"), "xlsx"));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_the_mode_of_a_file_stay() -> Result<()> {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir()?;
        let (target, link) = (folder.path().join("a.csv"), folder.path().join("link"));
        fs::write(&target, "one")?;
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600))?;
        symlink(&target, &link)?;
        save(Body::builder().data("two"), &link)?;
        assert_eq!(fs::read_to_string(&target)?, "two");
        assert!(link.is_symlink());
        assert_eq!(target.metadata()?.permissions().mode() & 0o777, 0o600);
        Ok(())
    }
}
