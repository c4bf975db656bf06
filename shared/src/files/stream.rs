//! An object that is being read, block by block, in constant memory.

use aws_sdk_s3::primitives::ByteStream;
use longshore_domain::ports::{FileStream, PortResult};

use super::failed;

/// An object that is being read. A connection that breaks in the middle is an error: the reader resumes from its own
/// last position.
#[derive(Debug)]
pub struct S3Stream {
    body: ByteStream,
    size_bytes: usize,
}

impl S3Stream {
    pub(super) fn new(body: ByteStream, size_bytes: usize) -> Self {
        Self { body, size_bytes }
    }

    /// Returns an empty stream.
    pub(super) fn empty() -> Self {
        Self::new(ByteStream::default(), 0)
    }

    /// Returns the number of bytes that S3 announced.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl FileStream for S3Stream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let block = self.body.try_next().await.map_err(failed("read"))?;
        Ok(block.map(Vec::from))
    }
}
