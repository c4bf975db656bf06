//! Reads a large file and resumes interrupted streams: the SDK repeats calls, but does not resume their bodies.

use std::ops::Range;

use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileStream, Files, PortError, PortResult, Read};

use crate::telemetry;

/// Maximum number of consecutive interruptions, without a block in between, before the read fails.
const MAX_BREAKS: u32 = 3;

/// A version of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Version<'a> {
    /// Object key.
    pub key: &'a str,
    /// Entity tag.
    pub etag: &'a str,
    /// Size in bytes.
    pub size_bytes: u64,
}

impl<'a> From<&'a SourceFile> for Version<'a> {
    fn from(SourceFile { key, etag, size_bytes, .. }: &'a SourceFile) -> Self {
        Self { key, etag, size_bytes: *size_bytes }
    }
}

/// A reader of one version of a file. A stream that is interrupted, or ends too early, is reopened at the next byte.
pub struct ResumingReader<'a, F: Files> {
    files: &'a F,
    version: Version<'a>,
    /// Offset at which reading ends; the end of the file if `None`.
    end: Option<u64>,
    position: u64,
    breaks: u32,
    stream: Option<F::Stream>,
}

impl<'a, F: Files> ResumingReader<'a, F> {
    /// Creates a reader that begins with byte `start`. Nothing is read before the first block is requested.
    pub fn new(files: &'a F, version: impl Into<Version<'a>>, start: u64) -> Self {
        Self { files, version: version.into(), end: None, position: start, breaks: 0, stream: None }
    }

    /// Limits the reader to the bytes before `end`: nothing after them is downloaded. A part of a file has no
    /// checksum to compare.
    #[must_use]
    pub fn up_to(self, end: u64) -> Self {
        Self { end: Some(end.min(self.version.size_bytes)), ..self }
    }

    /// Reads a range; `None` if the file was removed or replaced.
    ///
    /// # Errors
    /// See [`ResumingReader::next`].
    pub async fn read_range(
        files: &'a F,
        version: impl Into<Version<'a>>,
        range: Range<u64>,
    ) -> PortResult<Option<Vec<u8>>> {
        match Self::new(files, version, range.start).up_to(range.end).read_all().await? {
            Read::Found(bytes) => Ok(Some(bytes)),
            Read::Absent | Read::Changed => Ok(None),
        }
    }

    /// Returns the next block; `None` after the last byte of the file, or of the part that is read, never before it.
    ///
    /// # Errors
    /// If the file cannot be opened, if its stream is interrupted repeatedly, or if the bytes do not match their stored
    /// checksum: the SDK compares it after the last byte of a whole file.
    pub async fn next(&mut self) -> PortResult<Read<Option<Vec<u8>>>> {
        let Version { key, etag, size_bytes } = self.version;
        while self.position < self.end.unwrap_or(size_bytes) {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                none => match self.files.open(key, Some(etag), self.position, self.end).await? {
                    Read::Found(stream) => none.insert(stream),
                    Read::Absent => return Ok(Read::Absent),
                    Read::Changed => return Ok(Read::Changed),
                },
            };
            let error = match stream.next().await {
                Ok(Some(mut block)) => {
                    // The source of an undo ends where its import's split has ended, within the file.
                    let left = self.end.unwrap_or(size_bytes) - self.position;
                    block.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                    (self.position, self.breaks) = (self.position + block.len() as u64, 0);
                    return Ok(Read::Found(Some(block)));
                }
                Ok(None) => self.ended_early(),
                Err(error) => error,
            };
            self.stream = None;
            if self.breaks == MAX_BREAKS {
                return Err(error);
            }
            self.breaks += 1;
            let error = telemetry::chain(&error);
            tracing::warn!(file.key = key, position = self.position, error, "the stream of a file was interrupted");
        }
        match self.stream.take() {
            Some(mut stream) => stream.next().await.map(|_| Read::Found(None)),
            None => Ok(Read::Found(None)),
        }
    }

    /// Reads everything that is left.
    ///
    /// # Errors
    /// See [`ResumingReader::next`].
    pub async fn read_all(mut self) -> PortResult<Read<Vec<u8>>> {
        let mut bytes = Vec::new();
        loop {
            match self.next().await? {
                Read::Found(Some(block)) => bytes.extend_from_slice(&block),
                Read::Found(None) => return Ok(Read::Found(bytes)),
                Read::Absent => return Ok(Read::Absent),
                Read::Changed => return Ok(Read::Changed),
            }
        }
    }

    fn ended_early(&self) -> PortError {
        let end = self.end.unwrap_or(self.version.size_bytes);
        let source = format!("the stream ended at byte {} of {end}", self.position).into();
        PortError { service: "files", operation: "read", source }
    }
}
