//! Calls about the records that imports have written.

pub(crate) mod datasets;
pub(crate) mod delete;
mod document;
pub(crate) mod list;

pub(crate) use document::records_path;
pub use document::{DatasetDocument, DatasetLinks, DatasetsDocument, RecordDocument, RecordsDocument};
