//! `GET /api/jobs/{jobId}/results`: the outputs of the items that succeeded, page by page.

pub(crate) mod list;
mod page;

pub use page::ResultsDocument;
