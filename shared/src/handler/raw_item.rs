//! An item before it is parsed.

use longshore_domain::ports::StoredRecord;
use longshore_domain::records::Format;
use serde_json::Value;

/// An item as the worker has it: a number and its input.
#[derive(Copy, Clone, Debug)]
pub struct RawItem<'a> {
    /// Number in the file, from 1.
    pub number: u64,
    /// Format and bytes of the item.
    pub shape: Shape<'a>,
}

/// Format and bytes of an item.
#[derive(Copy, Clone, Debug)]
pub enum Shape<'a> {
    /// A record of a file.
    Record {
        /// The file's format.
        format: Format,
        /// Names of the columns of CSV.
        columns: &'a [String],
        /// The record without its terminator.
        bytes: &'a [u8],
        /// True if the file ended inside one of the record's quoted cells.
        unterminated: bool,
    },
    /// A record of a dataset.
    Stored(&'a StoredRecord),
    /// The options of a job without a file.
    Options(&'a Value),
}
