//! Sources, work files and reports: objects in one S3 bucket.
//!
//! Reading and writing is the domain's port [`Files`](longshore_domain::ports::Files). The URLs with which clients
//! upload and download files themselves are created without a call.

mod multipart;
mod presign;
mod records;
mod remove;
mod resuming;
mod s3;

use longshore_domain::ports::PortError;

pub use presign::content_disposition;
pub use records::{RecordWindow, StreamedRecord};
pub use resuming::{ResumingReader, Version};
pub use s3::{S3Files, S3Stream};

/// Error of an upload that S3 created without returning an id.
#[derive(Debug, thiserror::Error)]
#[error("S3 returned no upload id")]
struct NoUploadId;

/// Converts an error of this operation to an error of the port.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "files", operation, source: source.into() }
}
