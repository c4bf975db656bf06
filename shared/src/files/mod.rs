//! Sources, work files and reports: bytes in one bucket, never in the table.
//!
//! Reading and writing is the domain's port [`Files`](longshore_domain::ports::Files). The URLs with which clients
//! upload and download files themselves are created without a call.

mod multipart;
mod parts;
mod presign;
mod remove;
mod resuming;
mod s3;

use longshore_domain::ports::PortError;

pub use presign::content_disposition;
pub use resuming::{ResumingReader, Version};
pub use s3::{S3Files, S3Stream};

/// Error: S3 began an upload without returning an id.
#[derive(Debug, thiserror::Error)]
#[error("S3 returned no upload id")]
struct NoUploadId;

/// Names the failed operation as the port does.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "files", operation, source: source.into() }
}
