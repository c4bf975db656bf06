//! The report of a job: every item that did not succeed, in files whose rows are counted before they become visible.
//!
//! | file | contains |
//! | --- | --- |
//! | `input` | the columns, and the rows of the source that was never split |
//! | `chunks` | the groups of the report, and the rows of their chunks, which are read ahead |
//! | `row` | one row: rectangular and without formulas |
//! | `table` | one CSV file |
//! | `writer` | the three files, from one position to the next |
//! | `state` | the state of these files between two invocations |
//!
//! The groups are closed or done when the report is started, so its bytes depend only on the ledger: they are the same
//! regardless of interruptions. Memory: some chunks and less than a part of each file, for any number of rows.

mod chunks;
mod input;
mod row;
mod state;
mod table;
mod writer;

use longshore::receipt::FileReceipt;
use longshore::result::Report;

pub(crate) use input::InputLayout;
pub(crate) use writer::{ReportName, ReportWriter};

/// A report whose files exist.
pub(crate) struct WrittenReport {
    /// The result document's part of the report.
    pub(crate) report: Report,
    /// The receipt's entries for the files.
    pub(crate) files: Vec<FileReceipt>,
}

/// Progress of writing a report.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Reached {
    /// The whole report is written.
    End,
    /// The time ended first.
    Due,
}
