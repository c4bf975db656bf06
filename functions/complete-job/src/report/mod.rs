//! The report of a job: every item that did not succeed, in files whose rows are counted before they become visible.
//!
//! | file | contains |
//! | --- | --- |
//! | `input` | the columns, and the rows of the source that was never split |
//! | `read_ahead` | objects that are read ahead: the rows of chunks, and slices of the outputs |
//! | `row` | one row: rectangular and without formulas |
//! | `parts`, `part_size` | one file: a single PutObject or a multipart upload; sizes of parts |
//! | `table` | one CSV file of items that did not succeed |
//! | `results`, `result_rows`, `members` | the outputs of the items that succeeded, and their index; their rows in CSV |
//! | `workbook`, `workbook_source` | a workbook of the results; the outputs that it is written from, and its limits |
//! | `fallback` | the cases in which the results are CSV in place of a workbook |
//! | `writer` | all files, from one position to the next |
//! | `listing`, `check` | the listed items; the comparison with the ledger |
//! | `issues` | issues that the report adds to those of the job |
//! | `receipts` | the receipt's entries for these files |
//! | `state`, `stored` | the state of these files between two invocations; a report that is stored and continued |
//!
//! The groups are closed or done when the report is started, so its bytes depend only on the ledger: they are the same
//! regardless of interruptions. Memory: some chunks and less than a part of each file, for any number of rows.

mod check;
mod fallback;
mod input;
mod issues;
mod listing;
mod members;
mod part_size;
mod parts;
mod read_ahead;
mod receipts;
mod result_rows;
mod results;
mod row;
mod state;
mod stored;
mod table;
mod workbook;
mod workbook_source;
mod writer;

use longshore::receipt::{FileReceipt, ResultsReceipt};
use longshore::result::Report;

pub(crate) use input::InputLayout;
pub(crate) use writer::{ReportName, ReportWriter};

/// A report whose files exist.
pub(crate) struct WrittenReport {
    /// The result document's part of the report.
    pub(crate) report: Report,
    /// The receipt's entries for the files.
    pub(crate) files: Vec<FileReceipt>,
    /// The receipt's entry for the results.
    pub(crate) results: Option<ResultsReceipt>,
}

/// Progress of writing a report.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Reached {
    /// The whole report is written.
    End,
    /// The time ended first.
    Due,
}
