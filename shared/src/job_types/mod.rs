//! The built-in job types. To add one, add a file and a line here.

pub mod import;

use self::import::Import;
use crate::handler::Registry;
use longshore_domain::ports::RecordStore;

/// Returns all built-in job types.
pub fn builtin<R: RecordStore>(records: R) -> Registry {
    Registry::default().with(Import::new(records))
}
