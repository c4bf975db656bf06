//! The error of a job as a whole, and the reason to stop a job.

use serde::{Deserialize, Serialize};

use super::status::Status;
use crate::text::cut;
use crate::timestamp::Timestamp;

/// Maximum bytes of an error's code and message: both are stored in the job's item, which DynamoDB limits to 400 KB.
const CODE_BYTES: usize = 100;
const MESSAGE_BYTES: usize = 4 * 1024;

/// A problem with the job as a whole: a stable code, and a sentence for people. Both have a maximum length.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(from = "JobErrorParts")]
#[non_exhaustive]
pub struct JobError {
    /// Stable error code in snake case, for programs.
    pub code: String,
    /// Message for people: the problem, its position and the fix.
    pub message: String,
}

/// An error as it is stored.
#[derive(Deserialize)]
struct JobErrorParts {
    code: String,
    message: String,
}

impl JobError {
    /// Creates an error, with both parts cut to their maximum lengths.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let (mut code, mut message) = (code.into(), message.into());
        cut(&mut code, CODE_BYTES);
        cut(&mut message, MESSAGE_BYTES);
        Self { code, message }
    }
}

impl From<JobErrorParts> for JobError {
    fn from(parts: JobErrorParts) -> Self {
        Self::new(parts.code, parts.message)
    }
}

/// The reason to stop a job early.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// The final status of the job: failed or canceled.
    pub status: Status,
    /// The error that the job will report.
    pub error: Option<JobError>,
    /// Time at which the stop was requested.
    pub at: Timestamp,
}

// A new member does not compile until it is here, and in the golden file of its shape: docs/design/versions.md.
#[cfg(test)]
const _: fn(JobError, JobErrorParts) = |JobError { code: _, message: _ }, JobErrorParts { code: _, message: _ }| {};
