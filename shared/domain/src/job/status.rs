//! The status of a job, and its stage.

use serde::{Deserialize, Serialize};

/// The status of a job. The last three are final.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Accepted, but not started.
    Waiting,
    /// Started.
    Running,
    /// Every item has ended, and the report is written.
    Completed,
    /// Stopped for the reason in `error`, or failed at the end; the report is written.
    Failed,
    /// Stopped at the client's request; the report is written.
    Canceled,
}

impl Status {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }

    /// Returns true if the status is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled)
    }
}

/// The stage of a job, finer than its status. In `finishing`, all items have ended and the report is not yet written.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The create message waits in its queue.
    Queued,
    /// The file is being converted into text that can be split, if that is needed, and split; existing chunks already
    /// run.
    Splitting,
    /// Every chunk exists.
    Processing,
    /// No new item starts; completion closes the groups and counts.
    Stopping,
    /// All items have ended; completion writes the report. Never stored, but derived on each read.
    Finishing,
    /// The status is final.
    Done,
}

#[cfg(test)]
mod tests {
    use super::Status::{self, Canceled, Completed, Failed, Running, Waiting};

    #[test]
    fn a_status_is_the_same_word_everywhere() {
        for status in [Waiting, Running, Completed, Failed, Canceled] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
            assert_eq!(serde_json::from_value::<Status>(status.as_str().into()).unwrap(), status);
        }
    }
}
