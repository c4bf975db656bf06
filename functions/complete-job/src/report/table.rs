//! One CSV file of a report (RFC 4180, `\r\n`): one PutObject while it is small, a multipart upload once it is large.
//!
//! Part n has the same bytes in every invocation: parts are cut only by their position in the file. So two completions
//! can write the same upload without harm, and one can continue where another stopped. A completed upload accepts no
//! further part. A file that is written by one PutObject has its own key in each invocation, because a PutObject
//! overwrites an earlier one, and the bytes differ if the source was lost in between.

use longshore::failures_file::Columns;
use longshore::fingerprint::{Fingerprint, Fingerprinter, SavedFingerprint};
use longshore::result::ReportFile;
use longshore_domain::ports::{Files, MultipartFiles, MultipartOutcome, MultipartUpload};
use serde::{Deserialize, Serialize};

use super::row::RowBuilder;
use crate::CompleteError;

const CONTENT_TYPE: &str = "text/csv; charset=utf-8";

/// Number of parts of one size, before the size doubles. S3 allows 10,000 parts: starting with 8 MiB, they hold 300 GB.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>
const PARTS_OF_A_SIZE: usize = 2_500;

/// A CSV file that is being written. Buffers less than a part, plus the rows of one chunk.
pub(super) struct Table {
    keys: TableKeys,
    rows: RowBuilder,
    /// Names of the columns after the item's own.
    report_columns: &'static [&'static str],
    part_bytes: usize,
    done: Sent,
    print: Fingerprinter,
    /// Bytes that are not sent yet.
    buffer: Vec<u8>,
}

/// Keys of one file of the report.
pub(super) struct TableKeys {
    /// Key of the multipart upload, which all invocations of the attempt share.
    pub(super) parts: String,
    /// Key of the single PutObject, which only this invocation makes.
    pub(super) whole: String,
}

/// State of a file, without the bytes that are not sent yet.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sent {
    /// Rows, including those that are not sent.
    rows: u64,
    /// The upload, once it has a part.
    upload: Option<MultipartUpload>,
    /// Entity tags of the upload's parts.
    etags: Vec<String>,
}

/// State of a file between two invocations, without the bytes that are not sent yet.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct SavedTable {
    sent: Sent,
    print: SavedFingerprint,
    /// Number of bytes that are not sent yet.
    pub(super) tail: usize,
}

/// A written file.
pub(super) struct Written {
    /// Key of the file and its number of rows.
    pub(super) file: ReportFile,
    /// Fingerprint of all bytes.
    pub(super) fingerprint: Fingerprint,
}

impl Table {
    pub(super) fn new(
        keys: TableKeys,
        columns: Columns,
        report_columns: &'static [&'static str],
        part_bytes: usize,
    ) -> Self {
        let (done, print, buffer) = (Sent::default(), Fingerprinter::default(), Vec::new());
        Self { keys, rows: RowBuilder::new(columns), report_columns, part_bytes, done, print, buffer }
    }

    /// Continues a saved table; `None` if other code has saved it.
    pub(super) fn restore(mut self, saved: &SavedTable, tail: &[u8]) -> Option<Self> {
        self.print = Fingerprinter::restore(&saved.print)?;
        self.done = saved.sent.clone();
        self.buffer.extend_from_slice(tail);
        Some(self)
    }

    pub(super) fn save(&self) -> (SavedTable, &[u8]) {
        (SavedTable { sent: self.done.clone(), print: self.print.save(), tail: self.buffer.len() }, &self.buffer)
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> u64 {
        self.done.rows
    }

    /// Returns true if a part of it was sent.
    pub(super) fn has_parts(&self) -> bool {
        self.done.upload.is_some()
    }

    /// Appends a row; see [`RowBuilder::append`]. Nothing is sent.
    pub(super) fn push(&mut self, number: u64, raw: &[u8], report_cells: &[&str]) {
        if self.done.rows == 0 {
            self.rows.append_header(&mut self.buffer, self.report_columns);
        }
        self.rows.append(&mut self.buffer, number, raw, report_cells);
        self.done.rows += 1;
    }

    /// Sends every full part. The last part is never empty, and a file of a single part is not a multipart upload.
    pub(super) async fn send_parts<F: MultipartFiles>(&mut self, files: &F) -> Result<(), CompleteError> {
        while self.buffer.len() > self.part_len() {
            let tail = self.buffer.split_off(self.part_len());
            let part = std::mem::replace(&mut self.buffer, tail);
            self.print.take(&part);
            let upload = match &self.done.upload {
                Some(upload) => upload,
                None => self.done.upload.insert(files.create_multipart(&self.keys.parts, CONTENT_TYPE).await?),
            };
            let number = part_number(&self.done.etags);
            let etag = files.upload_part(upload, number, part).await?.ok_or(CompleteError::UploadGone)?;
            self.done.etags.push(etag);
        }
        Ok(())
    }

    /// Completes the file if it has a row. Idempotent: a completed upload has left the whole file.
    pub(super) async fn finish<F: Files + MultipartFiles>(
        mut self,
        files: &F,
    ) -> Result<Option<Written>, CompleteError> {
        if self.done.rows == 0 {
            return Ok(None);
        }
        self.print.take(&self.buffer);
        let (rows, fingerprint) = (self.done.rows, self.print.clone().finish());
        let key = match self.done.upload.take() {
            None => {
                files.write(&self.keys.whole, CONTENT_TYPE, self.buffer).await?;
                self.keys.whole
            }
            Some(upload) => {
                let mut etags = self.done.etags;
                let last = files.upload_part(&upload, part_number(&etags), self.buffer).await?;
                etags.extend(last.clone());
                if (last.is_none() || files.complete_multipart(&upload, &etags).await? != MultipartOutcome::Completed)
                    && files.info(&upload.key).await?.is_none_or(|info| info.size_bytes != fingerprint.size)
                {
                    return Err(CompleteError::UploadGone);
                }
                upload.key
            }
        };
        Ok(Some(Written { file: ReportFile { key, rows }, fingerprint }))
    }

    /// Aborts the upload, which no invocation will complete.
    pub(super) async fn abort<F: MultipartFiles>(&self, files: &F) {
        if let Some(upload) = &self.done.upload {
            files.abort_multipart(upload).await;
        }
    }

    fn part_len(&self) -> usize {
        self.part_bytes << (self.done.etags.len() / PARTS_OF_A_SIZE)
    }
}

fn part_number(etags: &[String]) -> u32 {
    u32::try_from(etags.len() + 1).unwrap_or(u32::MAX)
}
