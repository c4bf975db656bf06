//! The header of a file as its job type sees it, and the result of its check.

use longshore_domain::job::JobError;
use serde_json::{Map, Value};

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
    /// What the first check has detected in the first rows. It is stored with the job, so that all rows are read in the
    /// same way.
    pub detected: Option<DetectedMembers>,
}

/// Members of the options that were detected.
#[derive(Clone, PartialEq, Debug)]
pub struct DetectedMembers {
    /// What was detected, as a part of the options.
    pub found: Value,
    /// The members of the options that contain it. They replace those of the client.
    pub members: Map<String, Value>,
}
