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
mod temporary;

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use longshore_domain::ports::{PortError, Unavailable};

pub use presign::content_disposition;
pub use records::{RecordWindow, StreamedRecord};
pub use resuming::{ResumingReader, Version};
pub use s3::{S3Files, S3Stream};
pub(crate) use temporary::is_temporary;

/// Error of an upload that S3 created without returning an id.
#[derive(Debug, thiserror::Error)]
#[error("S3 returned no upload id")]
struct NoUploadId;

/// Converts the error of a call of this operation to an error of the port: [`Unavailable`] if there was no response, or
/// S3 could not process the call.
fn unanswered<E>(operation: &'static str) -> impl Fn(SdkError<E, HttpResponse>) -> PortError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    move |error| {
        if is_temporary(&error) { failed(operation)(Unavailable(error.into())) } else { failed(operation)(error) }
    }
}

/// Converts an error of this operation to an error of the port.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "files", operation, source: source.into() }
}
