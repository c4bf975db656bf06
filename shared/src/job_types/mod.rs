//! The built-in job types. To add one, add a file and a line here.

mod batch_results;
pub mod delete_dataset;
pub mod export;
pub mod image;
pub mod import;
mod learnt;
#[cfg(test)]
#[path = "spied_tests.rs"]
mod spied;
pub mod undo;

use std::sync::Arc;

use self::delete_dataset::DeleteDataset;
use self::export::Export;
use self::import::Import;
pub use self::learnt::learnt_preset;
use self::undo::Undo;
use crate::handler::Registry;
use longshore_domain::ports::{Files, RecordReader, RecordStore, RecordVersions};

/// Returns all built-in job types. Imports store previous versions of records in `files`, and undos read them there.
pub fn builtin<R, F>(records: R, files: F) -> Registry
where
    R: RecordStore + RecordReader + RecordVersions,
    F: Files + Clone + 'static,
{
    let records = Arc::new(records);
    Registry::default()
        .with_records(Arc::<R>::clone(&records))
        .with(DeleteDataset::new(Arc::clone(&records)))
        .with(Export)
        .with(Undo::new(Arc::clone(&records), files.clone()))
        .with(Import::new(records, files))
}
