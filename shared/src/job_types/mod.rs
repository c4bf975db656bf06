//! The built-in job types. To add one, add a file and a line here.

pub mod delete_dataset;
pub mod export;
pub mod import;

use std::sync::Arc;

use self::delete_dataset::DeleteDataset;
use self::export::Export;
use self::import::Import;
use crate::handler::Registry;
use longshore_domain::ports::{RecordReader, RecordStore};

/// Returns all built-in job types.
pub fn builtin<R: RecordStore + RecordReader>(records: R) -> Registry {
    let records = Arc::new(records);
    Registry::default()
        .with_records(Arc::<R>::clone(&records))
        .with(DeleteDataset::new(Arc::clone(&records)))
        .with(Export)
        .with(Import::new(records))
}
