//! A file of the report: one PutObject while it is small, a multipart upload once it is large.
//!
//! Part n has the same bytes in every invocation: parts are cut only by their position in the file. So two completions
//! can write the same upload without harm, and one can continue where another stopped. A completed upload accepts no
//! further part. A file that is written by one PutObject has its own key in each invocation, because a PutObject
//! overwrites an earlier one, and the bytes differ if the source was lost in between.
//!
//! A large object can be copied as a part, which S3 does without a read. The SHA-256 of such a file is unknown; its
//! CRC-64 is joined from those of its parts.

use std::collections::VecDeque;
use std::mem;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::crc64;
use longshore::fingerprint::{Fingerprinter, SavedFingerprint};
use longshore::result::ReportFile;
use longshore_domain::ports::{Files, MultipartFiles, MultipartOutcome, MultipartUpload, PortResult};
use serde::{Deserialize, Serialize};

use super::part_size;
use crate::CompleteError;

/// Maximum bytes of the parts of one file that are uploaded concurrently; a larger part is uploaded alone.
const UPLOAD_BYTES: usize = 16 << 20;

/// Maximum number of parts that are uploaded or copied concurrently.
const CONCURRENT_PARTS: usize = 16;

/// Keys of one file of the report.
pub(super) struct FileKeys {
    /// Key of the multipart upload, which all invocations of the attempt share.
    pub(super) parts: String,
    /// Key of the single PutObject, which only this invocation makes.
    pub(super) whole: String,
    /// Media type.
    pub(super) content_type: &'static str,
}

/// A file that is being written. Buffers less than a part, plus what was pushed since [`PartWriter::send_parts`].
pub(super) struct PartWriter<'a, F> {
    files: &'a F,
    keys: FileKeys,
    part_bytes: usize,
    sent: Sent,
    print: Fingerprinter,
    /// Bytes that are not sent yet.
    buffer: Vec<u8>,
    in_flight: FuturesOrdered<BoxFuture<'a, PortResult<Option<String>>>>,
    /// Bytes in memory of each part in flight.
    in_flight_bytes: VecDeque<usize>,
}

/// State of a file, without the bytes that are not sent yet.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Sent {
    /// Rows, including those that are not sent.
    rows: u64,
    /// Bytes of the parts.
    bytes: u64,
    /// CRC-64/NVME of the parts.
    crc64: u64,
    /// True if a part was copied.
    copied: bool,
    /// The upload, once it has a part.
    upload: Option<MultipartUpload>,
    /// Entity tags of the upload's parts.
    etags: Vec<String>,
}

/// State of a file between two invocations, without the bytes that are not sent yet.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct SavedFile {
    sent: Sent,
    print: SavedFingerprint,
    /// Number of bytes that are not sent yet.
    pub(super) tail: usize,
}

/// A written file.
pub(super) struct Written {
    /// Key of the file and its number of rows.
    pub(super) file: ReportFile,
    /// Size in bytes.
    pub(super) size: u64,
    /// SHA-256 of all bytes; `None` if parts of the file were copied.
    pub(super) sha256: Option<String>,
    /// CRC-64/NVME of all bytes.
    pub(super) crc64: u64,
}

/// An object that can be a part of a file.
pub(super) struct Copied<'s> {
    pub(super) key: &'s str,
    pub(super) bytes: u64,
    pub(super) crc64: u64,
}

impl<'a, F: Files + MultipartFiles> PartWriter<'a, F> {
    pub(super) fn new(files: &'a F, keys: FileKeys, part_bytes: usize) -> Self {
        let (sent, print, buffer) = (Sent::default(), Fingerprinter::default(), Vec::new());
        let (in_flight, in_flight_bytes) = (FuturesOrdered::new(), VecDeque::new());
        Self { files, keys, part_bytes, sent, print, buffer, in_flight, in_flight_bytes }
    }

    /// Continues a saved file; `None` if other code has saved it.
    pub(super) fn restore(mut self, saved: &SavedFile, tail: &[u8]) -> Option<Self> {
        self.print = Fingerprinter::restore(&saved.print)?;
        self.sent = saved.sent.clone();
        self.buffer.extend_from_slice(tail);
        Some(self)
    }

    /// Returns the state and the bytes that are not sent. No part may be in flight.
    pub(super) fn save(&self) -> (SavedFile, &[u8]) {
        (SavedFile { sent: self.sent.clone(), print: self.print.save(), tail: self.buffer.len() }, &self.buffer)
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.sent.rows
    }

    /// Returns true if a part of it was sent.
    pub(super) fn has_parts(&self) -> bool {
        self.sent.upload.is_some()
    }

    /// Returns true if nothing more should be appended.
    pub(super) fn is_too_large(&self) -> bool {
        self.parts() >= part_size::MAX_PARTS
    }

    /// Returns the bytes that are not sent yet, to append rows. Nothing is sent.
    pub(super) fn push(&mut self, rows: u64) -> &mut Vec<u8> {
        self.sent.rows += rows;
        &mut self.buffer
    }

    /// Returns true if there is more than a part, so that [`PartWriter::send_parts`] sends one.
    pub(super) fn exceeds_part(&self) -> bool {
        self.buffer.len() > part_size::next_bytes(self.part_bytes, self.parts())
    }

    /// Sends every full part. The last part is never empty, and a file of a single part is not a multipart upload.
    pub(super) async fn send_parts(&mut self) -> Result<(), CompleteError> {
        while self.exceeds_part() {
            let part_len = part_size::next_bytes(self.part_bytes, self.parts());
            // With room for the rows that exceed a part: a vector that grows takes up to twice the memory of its bytes.
            let mut tail = Vec::with_capacity(part_len + part_len / 8);
            tail.extend_from_slice(&self.buffer[part_len..]);
            self.buffer.truncate(part_len);
            let part = mem::replace(&mut self.buffer, tail);
            self.send(part).await?;
        }
        Ok(())
    }

    /// Appends an object by a copy, if it and the bytes before it are large enough to be parts; returns false if not.
    pub(super) async fn copy(&mut self, rows: u64, from: Copied<'_>) -> Result<bool, CompleteError> {
        let min_len = part_size::min_bytes(self.part_bytes, self.parts());
        if from.bytes < min_len as u64 || (!self.buffer.is_empty() && self.buffer.len() < min_len) {
            return Ok(false);
        }
        if !self.buffer.is_empty() {
            let part = mem::take(&mut self.buffer);
            self.send(part).await?;
        }
        self.make_room(0).await?;
        self.sent.rows += rows;
        self.sent.bytes += from.bytes;
        self.sent.crc64 = crc64::joined(self.sent.crc64, from.crc64, from.bytes);
        self.sent.copied = true;
        let (upload, number) = (self.upload().await?, part_number(self.parts()));
        let (files, key) = (self.files, from.key.to_owned());
        self.in_flight.push_back(Box::pin(async move { files.copy_part(&upload, number, &key).await }));
        self.in_flight_bytes.push_back(0);
        Ok(true)
    }

    /// Waits for all parts in flight.
    pub(super) async fn settle(&mut self) -> Result<(), CompleteError> {
        while !self.in_flight.is_empty() {
            self.settle_one().await?;
        }
        Ok(())
    }

    /// Completes the file if it has a row. Idempotent: a completed upload has left the whole file.
    pub(super) async fn finish(mut self) -> Result<Option<Written>, CompleteError> {
        if self.sent.rows == 0 {
            return Ok(None);
        }
        self.settle().await?;
        let last = mem::take(&mut self.buffer);
        self.count(&last);
        self.buffer = last;
        let Sent { rows, bytes: size, crc64, copied, .. } = self.sent;
        let sha256 = (!copied).then(|| self.print.clone().finish().sha256);
        let key = match self.sent.upload.take() {
            None => {
                self.files.write(&self.keys.whole, self.keys.content_type, self.buffer).await?;
                self.keys.whole
            }
            Some(upload) => {
                self.complete(&upload, size).await?;
                upload.key
            }
        };
        Ok(Some(Written { file: ReportFile { key, rows }, size, sha256, crc64 }))
    }

    /// Aborts the upload, which no invocation will complete.
    pub(super) async fn abort(&mut self) {
        if let Some(upload) = &self.sent.upload {
            self.files.abort_multipart(upload).await;
        }
    }

    async fn complete(&mut self, upload: &MultipartUpload, size: u64) -> Result<(), CompleteError> {
        let mut etags = mem::take(&mut self.sent.etags);
        let mut is_gone = false;
        if !self.buffer.is_empty() {
            let number = part_number(etags.len());
            let last = self.files.upload_part(upload, number, mem::take(&mut self.buffer)).await?;
            is_gone = last.is_none();
            etags.extend(last);
        }
        let is_completed =
            !is_gone && self.files.complete_multipart(upload, &etags).await? == MultipartOutcome::Completed;
        if is_completed || self.files.info(&upload.key).await?.is_some_and(|info| info.size_bytes == size) {
            return Ok(());
        }
        Err(CompleteError::UploadGone)
    }

    /// Starts the upload of a part.
    async fn send(&mut self, part: Vec<u8>) -> Result<(), CompleteError> {
        self.make_room(part.len()).await?;
        self.count(&part);
        let (upload, number, files) = (self.upload().await?, part_number(self.parts()), self.files);
        self.in_flight_bytes.push_back(part.len());
        self.in_flight.push_back(Box::pin(async move { files.upload_part(&upload, number, part).await }));
        Ok(())
    }

    /// Adds the next bytes of the file to its size and its checksums.
    fn count(&mut self, bytes: &[u8]) {
        self.print.take(bytes);
        self.sent.bytes += bytes.len() as u64;
        self.sent.crc64 = crc64::joined(self.sent.crc64, crc64::of(bytes), bytes.len() as u64);
    }

    async fn make_room(&mut self, bytes: usize) -> Result<(), CompleteError> {
        while !self.in_flight.is_empty()
            && (self.in_flight.len() >= CONCURRENT_PARTS
                || self.in_flight_bytes.iter().sum::<usize>() + bytes > UPLOAD_BYTES)
        {
            self.settle_one().await?;
        }
        Ok(())
    }

    async fn settle_one(&mut self) -> Result<(), CompleteError> {
        if let Some(etag) = self.in_flight.next().await {
            self.in_flight_bytes.pop_front();
            self.sent.etags.push(etag?.ok_or(CompleteError::UploadGone)?);
        }
        Ok(())
    }

    async fn upload(&mut self) -> Result<MultipartUpload, CompleteError> {
        if let Some(upload) = &self.sent.upload {
            return Ok(upload.clone());
        }
        let upload = self.files.create_multipart(&self.keys.parts, self.keys.content_type).await?;
        Ok(self.sent.upload.insert(upload).clone())
    }

    fn parts(&self) -> usize {
        self.sent.etags.len() + self.in_flight.len()
    }
}

fn part_number(parts: usize) -> u32 {
    u32::try_from(parts + 1).unwrap_or(u32::MAX)
}
