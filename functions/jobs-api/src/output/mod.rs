//! `GET /api/jobs/{jobId}/output`: the result document, with links to the report's files instead of their keys.

mod document;
pub(crate) mod get;
pub(crate) mod linker;
pub(crate) mod stored;

pub use document::{FileLink, FileLinks, OutputDocument, ReceiptLink};
