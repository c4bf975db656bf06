//! The log of what operators have done: an entry before each action, and its result after it.
//!
//! The entry is written first, so that no action is without one. An entry without a result is that of an action whose
//! end is unknown: its function has died, or could not write the result.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::ids::{JobId, PauseId};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Days for which an entry is kept: more than a year, however long jobs are kept.
pub const RETENTION_DAYS: i64 = 400;

/// Maximum number of characters of a reason.
pub const REASON_CHARS: usize = 500;

/// Maximum number of jobs of an action.
pub const MAX_JOBS: usize = 100;

/// Maximum number of characters of a result's detail.
const DETAIL_CHARS: usize = 500;

/// Kind of an action.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorAction)]
pub enum OperatorAction {
    /// A dead letter was replayed.
    ReplayDeadLetter,
    /// All dead letters of a job were replayed.
    ReplayDeadLettersOfJob,
    /// A dead letter was discarded.
    DiscardDeadLetter,
    /// The items of jobs that failed with one code were retried.
    RetryFailures,
    /// The work of a job type or a tenant was paused.
    Pause,
    /// A pause was ended.
    Resume,
    /// A dead letter was read with the rows in its body.
    ReadDeadLetter,
    /// An action that this version does not know: a later version has logged it.
    #[serde(other)]
    Other,
}

/// Subject of an action.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorActionScope)]
pub struct ActionScope {
    /// The dead letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter_id: Option<String>,
    /// The job type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_type: Option<String>,
    /// The code of the failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The jobs, up to 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_ids: Vec<JobId>,
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tenant: Option<TenantId>,
    /// The pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_id: Option<PauseId>,
}

/// An entry: who does what, and for which reason. Never a row, an option or the name of a file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Unique id. Ids sort by time.
    pub id: String,
    /// Time before the action.
    pub at: Timestamp,
    /// The operator: the token's claim `sub`.
    pub operator: String,
    /// Name of the operator for people, if the token has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_name: Option<String>,
    /// Kind of the action.
    pub action: OperatorAction,
    /// Subject of the action.
    pub scope: ActionScope,
    /// The operator's reason, if the action takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl LogEntry {
    /// Maximum number of bytes of an id.
    pub const ID_BYTES: usize = 64;

    /// Generates an id of an entry of this time.
    pub fn generate_id(at: Timestamp) -> String {
        format!("{:015}-{}", at.0, Uuid::new_v4())
    }

    /// Returns the time in seconds at which the entry and its result expire.
    pub fn expires_at(&self) -> i64 {
        self.at.plus_days(RETENTION_DAYS).seconds()
    }
}

/// The result of an action.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionResult {
    /// Time after the action.
    pub at: Timestamp,
    /// HTTP status of the answer.
    pub status: u16,
    /// Result of the action, or the reason for which nothing was done.
    pub detail: String,
    /// Jobs that the action has started again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<JobId>,
}

impl ActionResult {
    /// Creates a result. A long detail is cut.
    pub fn new(at: Timestamp, status: u16, detail: &str, started: Vec<JobId>) -> Self {
        Self { at, status, detail: detail.chars().take(DETAIL_CHARS).collect(), started }
    }
}

/// An entry with the result of its action; `None` if the result is unknown.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct LoggedAction {
    /// The entry.
    pub entry: LogEntry,
    /// The result.
    pub result: Option<ActionResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_are_short() {
        let [first, second] = [Timestamp(999), Timestamp(1_000)].map(LogEntry::generate_id);
        assert!(first < second && second.len() <= LogEntry::ID_BYTES, "{first} {second}");
    }

    #[test]
    fn an_unknown_action_is_another_one() {
        let read = |word: &str| serde_json::from_value::<OperatorAction>(word.into()).unwrap();
        assert_eq!(["pause", "tidyUp"].map(read), [OperatorAction::Pause, OperatorAction::Other]);
    }

    #[test]
    fn a_long_detail_is_cut() {
        let result = ActionResult::new(Timestamp(0), 202, &"ä".repeat(DETAIL_CHARS + 1), Vec::new());
        assert_eq!(result.detail.chars().count(), DETAIL_CHARS);
    }
}
