//! `GET /api/jobs/{jobId}/output`: the result document, with links to the report's files instead of their keys; and the
//! stable addresses of these files.

mod document;
pub(crate) mod file;
pub(crate) mod get;
pub(crate) mod image;
pub(crate) mod linker;
pub(crate) mod stored;

pub use document::{FileLink, FileLinks, OutputDocument, ReceiptLink};
