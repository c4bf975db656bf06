//! Ends a job: writes its report and sets its final status.
//!
//! - **Trigger:** `complete-job.fifo`, from the worker that ends the last item, from the splitter, from the caller that
//!   stops a job, and from the sweeper.
//! - **Reads and writes:** the job and its groups. For a stopping job it closes every group, so that no worker can
//!   commit any more. Then it reads the work files of the chunks that have any and, for a stopped job, the source.
//!   After a turn, or near its deadline, it stores the progress of the report, moves the job's checkpoint there, and
//!   sends itself a continuation. It writes `failed.csv`, `skipped.csv`, `unprocessed.csv` (each only if it has a row),
//!   `receipt.json`, `result.json`, and finally the job, by one conditional write. For the receipt it reads the source
//!   once more, unless the client gave its SHA-256.
//! - **Delivered twice**, even concurrently, or restarted after a crash at any step: the rows come from images that can
//!   no longer change. Each completion writes whole files under its own name, and the same parts to the same uploads.
//!   The checkpoint advances only from the position that was read. The final status is written once, with the name of
//!   the valid report.
//! - **Fair:** a delivery lasts one turn of some seconds, and then sends a continuation to the end of its tenant's
//!   lane. The second delivery of a message puts a copy into the copies lane, so that the tenant's other jobs do not
//!   wait behind it. A workbook of results is written in one invocation, which can take most of its time.
//! - **If it fails:** the next delivery continues from the checkpoint. If the rows found do not match the counts of the
//!   ledger, no file appears and the job gets no final status: no report is better than a wrong one.
//! - **Never:** holds more than a few chunks and a part of each file in memory; reads a work file to which no commit
//!   refers; changes a job that has a final status.
//!
//! The files together with the succeeded items are exactly the input, each item once. Against CSV injection, an
//! apostrophe precedes each cell that a spreadsheet could interpret as a formula (also after a semicolon, a tab or a
//! line end in the cell: see `longshore::formula`; plain numbers are not escaped).

mod attempt;
mod complete;
mod completer;
mod ending;
mod function;
mod outcome;
mod receipt;
mod report;

pub use attempt::TURN_S;
pub use completer::Completer;
pub use function::{CompleteJob, serve};
pub use outcome::{CompleteEnd, CompleteError, WorkbookError};
