//! The header of a file as its job type sees it, and the result of its check.

use longshore_domain::job::JobError;
use serde_json::Value;

/// The columns of a file, and its first rows.
#[derive(Copy, Clone, Debug)]
pub struct Header<'a> {
    /// Names of the columns, in order.
    pub columns: &'a [String],
    /// The first rows that have a cell for each column, of up to 64 KiB. Empty if the rows are those of another job.
    pub rows: &'a [Vec<String>],
    /// What an earlier check of this header has detected, `null` if nothing; it is not detected again. `None` for the
    /// first check.
    pub detected: Option<&'a Value>,
}

/// The result of the check of a header.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CheckedHeader {
    /// The job's `issues`.
    pub issues: Vec<JobError>,
    /// Options that were detected in the first rows. While items are processed, their members are added to the client's
    /// options, at every level. They are stored with the job, so that all rows are read in the same way.
    pub detected: Option<Value>,
}
