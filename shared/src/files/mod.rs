//! Sources, work files and reports: bytes in one bucket, never in the table.
//!
//! Reading and writing is the domain's port [`Files`](longshore_domain::ports::Files). The URLs by which clients put
//! and get files themselves are made here too, without a call.

mod memory;
mod memory_parts;
mod multipart;
mod parts;
mod presign;
mod remove;
mod resuming;
mod s3;
mod stream;

use longshore_domain::ports::PortError;

pub use memory::{MemoryFiles, MemoryStream};
pub use parts::{Completion, ReceivedPart};
pub use presign::{PutUrl, content_disposition};
pub use resuming::{ResumingReader, Version};
pub use s3::S3Files;
pub use stream::S3Stream;

/// S3 began an upload without naming it.
#[derive(Debug, thiserror::Error)]
#[error("S3 returned no upload id")]
struct NoUploadId;

/// Names the failed operation in the port's words.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "files", operation, source: source.into() }
}
