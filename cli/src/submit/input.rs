//! The file that is sent, and its upload with a bar.

use std::io::{IsTerminal, copy, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use tempfile::NamedTempFile;

use crate::api::{Api, LocalFile};
use crate::exit::{Exit, Failure};
use crate::progress::style;

/// A file to send.
pub(crate) struct Input {
    path: PathBuf,
    name: String,
    size_bytes: u64,
    /// The file with what standard input had. It is removed at the end.
    _copy: Option<NamedTempFile>,
}

impl Input {
    /// Opens a file, or with `-` reads standard input to its end. Without a name, the file has its own, and standard
    /// input this one.
    pub(crate) fn open(file: &Path, name: Option<&str>, default_name: &str) -> Result<Self> {
        if file != Path::new("-") {
            let of_path = file.file_name().context("the file has no name")?.to_string_lossy();
            let metadata = file.metadata().with_context(|| format!("cannot read {}", file.display()))?;
            if !metadata.is_file() {
                let hint = format!("{} is no file; pipe it, and pass -", file.display());
                return Err(Failure::new(Exit::Usage, hint).into());
            }
            return Self::of(file.to_owned(), name.unwrap_or(&of_path), metadata.len(), None);
        }
        if stdin().is_terminal() {
            return Err(Failure::new(Exit::Usage, "pipe a file to standard input, or pass its name").into());
        }
        // Its size must be known before it is sent.
        let mut copied = NamedTempFile::with_prefix("longshore-")?;
        let size = copy(&mut stdin().lock(), &mut copied).context("cannot keep standard input")?;
        Self::of(copied.path().to_owned(), name.unwrap_or(default_name), size, Some(copied))
    }

    fn of(path: PathBuf, name: &str, size_bytes: u64, copy: Option<NamedTempFile>) -> Result<Self> {
        if size_bytes == 0 {
            return Err(Failure::new(Exit::Usage, format!("{name} is empty")).into());
        }
        Ok(Self { path, name: name.to_owned(), size_bytes, _copy: copy })
    }

    /// Uploads the file. An interrupted upload for the same purpose is resumed. Returns the upload's id.
    pub(crate) fn upload(&self, api: &Api, purpose: &str) -> Result<String> {
        let bar = ProgressBar::new(self.size_bytes);
        bar.set_style(style("  {bar:32} {bytes} of {total_bytes} uploaded  {bytes_per_sec}").progress_chars("█▌░"));
        if bar.is_hidden() {
            eprintln!("  Uploading {}...", self.name);
        }
        let sent = |bytes: i64| if bytes < 0 { bar.dec(bytes.unsigned_abs()) } else { bar.inc(bytes.unsigned_abs()) };
        let file = LocalFile {
            path: &self.path,
            name: &self.name,
            content_type: content_type(&self.name),
            size_bytes: self.size_bytes,
        };
        let uploaded = api.upload_resumable(&file, Some(purpose), &sent);
        bar.finish_and_clear();
        uploaded
    }
}

/// Returns the media type by the name, as browsers do. The server looks at the content.
fn content_type(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    match lower.rsplit('.').next().unwrap_or_default() {
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
