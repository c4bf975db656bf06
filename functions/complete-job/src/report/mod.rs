//! The report of a job: every item that did not succeed, in files whose rows are counted before they appear.
//!
//! | file | holds |
//! | --- | --- |
//! | `layout` | the columns, and what was never split |
//! | `units` | the groups that it is written from, and the chunks that are read ahead |
//! | `chunk` | the rows of one chunk, from its work files and its range of the source |
//! | `rest` | the rows of the source that was never split |
//! | `row` | one row: rectangular, and no formula |
//! | `table` | one CSV file |
//! | `writer` | the three files, from a position to the next |
//! | `state` | what is kept of them between two invocations |
//!
//! The groups are closed or done when the report is begun, so its bytes follow from the ledger alone: they are the same
//! wherever it is interrupted and whoever continues. Memory: some chunks and less than a part of each file, for any
//! number of rows.

mod chunk;
mod layout;
mod row;
mod state;
mod table;
mod units;
mod unsplit;
mod writer;

use longshore::receipt::FileReceipt;
use longshore::result::Report;

pub(crate) use layout::Layout;
pub(crate) use writer::{ReportName, ReportWriter};

/// A report whose files have appeared.
pub(crate) struct WrittenReport {
    /// What it says.
    pub(crate) report: Report,
    /// What the receipt says of its files.
    pub(crate) files: Vec<FileReceipt>,
}

/// How far a report was written.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Reached {
    /// All of it.
    End,
    /// As far as the time went.
    Due,
}
