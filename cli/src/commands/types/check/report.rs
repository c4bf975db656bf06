//! Results of checks.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::order::Check;
use super::problems::Problem;

/// Status of a check.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    Ok,
    Warning,
    Failed,
    Skipped,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// Result of a check.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) check: Check,
    pub(super) status: Status,
    /// Id of the problem.
    pub(super) finding: Option<&'static str>,
    /// The result in one line.
    pub(super) summary: String,
    /// What was sent.
    pub(super) sent: Option<String>,
    /// What came back.
    pub(super) received: Option<String>,
    pub(super) why: Option<&'static str>,
    pub(super) fix: Option<&'static str>,
    /// Facts that are no problem.
    pub(super) notes: Vec<String>,
    #[serde(rename = "millis", serialize_with = "millis")]
    pub(super) took: Duration,
}

/// What was sent, and what came back.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) sent: String,
    pub(super) received: String,
}

impl Report {
    fn new(check: Check, status: Status, summary: String) -> Self {
        Self {
            check,
            status,
            finding: None,
            summary,
            sent: None,
            received: None,
            why: None,
            fix: None,
            notes: Vec::new(),
            took: Duration::ZERO,
        }
    }

    pub(super) fn ok(check: Check, summary: impl Into<String>) -> Self {
        Self::new(check, Status::Ok, summary.into())
    }

    pub(super) fn skipped(check: Check, reason: impl Into<String>) -> Self {
        Self::new(check, Status::Skipped, reason.into())
    }

    pub(super) fn problem(check: Check, problem: Problem, summary: impl Into<String>) -> Self {
        let entry = problem.entry();
        let report = Self::new(check, entry.status, summary.into());
        Self { finding: Some(entry.id), why: Some(entry.why), fix: Some(entry.fix), ..report }
    }

    /// Adds what was sent and what came back.
    pub(super) fn with(self, evidence: Evidence) -> Self {
        Self { sent: Some(evidence.sent), received: Some(evidence.received), ..self }
    }

    /// Adds facts that are no problem.
    pub(super) fn note(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}

fn millis<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
