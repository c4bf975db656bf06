//! Converts a job's file into text that can be split: a workbook, a compressed file, or text in UTF-16.
//!
//! - **Trigger:** `prepare.fifo`, from `create-job`, which finds the form of the file by its first bytes.
//! - **Reads and writes:** the uploaded file, by ranges; the prepared file, in parts, under a unique key in the job's
//!   folder; beside it, the numbers of the rows of a sheet. Then one write replaces the job's file by the prepared
//!   one, and a message to `create-job` continues the split.
//! - **Delivered twice:** only one prepared file replaces the uploaded one. That of the other delivery is removed, or later
//!   with the job.
//! - **If it fails:** the next delivery begins again. The progress that is shown never decreases, and only an end, or a
//!   delivery during a pause, resets the count of the sweeper's re-sends. So a file that cannot be prepared does not
//!   occupy the function for ever.
//! - **If it fails again:** the second delivery puts a copy of the message into the copies lane, as `create-job` does.
//! - **Paused:** a delivery that begins during a pause of the job acknowledges its message. The sweeper sends one after
//!   the pause.
//! - **A file that is refused:** the job fails, with the reason.
//! - **Never:** opens an archive in an archive, trusts a declared size, or holds more in memory than some blocks of the
//!   file, and the shared strings of a workbook.

mod attempt;
mod file;
mod function;
mod outcome;
mod preparer;
mod progress;
mod upload;

pub use function::{Prepare, serve};
pub use outcome::{PrepareEnd, PrepareError};
pub use preparer::{Preparer, Waits};
