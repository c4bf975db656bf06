//! The job types that come with Longshore: a flat list. One more is one more file and one more line here.

pub mod import;

use self::import::Import;
use crate::handler::Registry;
use crate::store::records::RecordStore;

/// All job types that come with Longshore.
pub fn builtin<R: RecordStore>(records: R) -> Registry {
    Registry::default().with(Import::new(records))
}
