//! A local file to upload. What is sent is what was read first, or the upload fails.

use std::fs::File;
use std::io::{self, IsTerminal, stdin};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::output::exit::{CommandError, Exit};

/// A local file to upload.
pub struct LocalFile {
    file: File,
    name: String,
    size_bytes: u64,
    modified: Option<SystemTime>,
}

impl LocalFile {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, or is empty.
    pub fn open(path: &Path) -> Result<Self> {
        let usage = |reason: String| CommandError::new(Exit::Usage, reason);
        let shown = path.display();
        let file = File::open(path).map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
        if !file.metadata()?.is_file() {
            return Err(usage(format!("{shown} is not a regular file: pipe it, and pass `-`")).into());
        }
        let name = path.file_name().context("the file has no name")?.to_string_lossy();
        Self::new(file, &name)
    }

    /// Copies standard input to a file without a name, which ends with the command.
    ///
    /// # Errors
    /// If nothing is piped to the command.
    pub fn standard_input(name: &str) -> Result<Self> {
        if stdin().is_terminal() {
            let reason = "pipe a file to standard input, or pass the name of one instead of `-`";
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        // The size must be known before the first byte is sent.
        let mut file = tempfile::tempfile().context("cannot create a temporary file")?;
        io::copy(&mut stdin().lock(), &mut file).context("cannot copy standard input")?;
        Self::new(file, name)
    }

    fn new(file: File, name: &str) -> Result<Self> {
        let metadata = file.metadata()?;
        if metadata.len() == 0 {
            return Err(CommandError::new(Exit::Usage, format!("{name} is empty")).into());
        }
        let modified = metadata.modified().ok();
        Ok(Self { file, name: name.to_owned(), size_bytes: metadata.len(), modified })
    }

    /// Returns the file with another name for the API.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its size.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the media type by the name, as browsers do. The server looks at the content.
    pub(super) fn content_type(&self) -> &'static str {
        let name = self.name.to_ascii_lowercase();
        match name.rsplit('.').next().unwrap_or_default() {
            "csv" => "text/csv",
            "tsv" => "text/tab-separated-values",
            "txt" => "text/plain",
            "jsonl" | "ndjson" => "application/x-ndjson",
            "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "gz" => "application/gzip",
            "zst" => "application/zstd",
            "zip" => "application/zip",
            _ => "application/octet-stream",
        }
    }

    /// Reads bytes at an offset. Several threads can do so at once.
    pub(super) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let length = read_at(&self.file, &mut bytes[done..], offset + done as u64)
                .with_context(|| format!("cannot read {}", self.name))?;
            if length == 0 {
                return Err(self.changed());
            }
            done += length;
        }
        Ok(())
    }

    /// Checks that the file is the one that was opened.
    ///
    /// # Errors
    /// If it has changed.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let metadata = self.file.metadata()?;
        let is_same = (metadata.len(), metadata.modified().ok()) == (self.size_bytes, self.modified);
        if is_same { Ok(()) } else { Err(self.changed()) }
    }

    /// Returns the error of a file that has changed.
    pub(super) fn changed(&self) -> anyhow::Error {
        let name = &self.name;
        let reason = format!(
            "{name} changed during the upload, and nothing was started: run the command again when it is complete"
        );
        CommandError::new(Exit::Failed, reason).into()
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek};
    file.seek(io::SeekFrom::Start(offset))?;
    file.read(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_changes_is_noticed() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("A.CSV");
        std::fs::write(&path, "abcdef")?;
        let file = LocalFile::open(&path)?;
        assert_eq!((file.name(), file.size_bytes(), file.content_type()), ("A.CSV", 6, "text/csv"));
        let mut bytes = [0; 3];
        file.read_at(2, &mut bytes)?;
        assert_eq!(&bytes, b"cde");
        file.check_unchanged()?;
        File::options().append(true).open(&path)?.write_all(b"g")?;
        assert!(file.check_unchanged().is_err(), "longer");
        File::options().write(true).open(&path)?.set_len(4)?;
        assert!(file.read_at(2, &mut bytes).is_err(), "shorter");
        assert!(LocalFile::open(folder.path()).is_err(), "a folder");
        std::fs::write(&path, "")?;
        assert!(LocalFile::open(&path).is_err(), "empty");
        Ok(())
    }
}
