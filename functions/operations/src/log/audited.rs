//! An action of an operator, logged before and after it.

use longshore::http::{Failure, Operator};
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::{ActionResult, ActionScope, LogEntry, OperatorAction};
use longshore_domain::ports::OperatorLog;

use crate::function::{Backend, Operations};

/// An operator's action that the operators' log records.
pub(crate) struct AuditedAction {
    pub(crate) action: OperatorAction,
    pub(crate) scope: ActionScope,
    pub(crate) reason: Option<String>,
}

/// Summary of the outcome of an action, for its result in the log.
pub(crate) trait ActionSummary {
    /// HTTP status of the answer.
    const STATUS: u16;

    /// Returns a sentence without any row.
    fn detail(&self) -> String;

    /// Returns the jobs that were started again.
    fn started(&self) -> Vec<JobId> {
        Vec::new()
    }
}

impl AuditedAction {
    /// Appends the entry, does the work, and appends its result. Without the entry, nothing is done. If only the
    /// result cannot be appended, the answer is that of the action, and the entry stays without a result.
    ///
    /// # Errors
    /// If the entry cannot be appended, or the work fails.
    pub(crate) async fn run<B: Backend, T: ActionSummary>(
        self,
        function: &Operations<B>,
        operator: &Operator,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let at = (function.clock)();
        let entry = LogEntry {
            id: LogEntry::generate_id(at),
            at,
            operator: operator.id.clone(),
            operator_name: operator.name.clone(),
            action: self.action,
            scope: self.scope,
            reason: self.reason,
        };
        function.log.append(&entry).await?;
        let outcome = work.await;
        let (status, detail, started) = match &outcome {
            Ok(done) => (T::STATUS, done.detail(), done.started()),
            // The detail of a refusal can repeat input, so that its kind is logged.
            Err(Failure::Problem(problem)) => {
                (problem.status(), format!("refused: {}", problem.kind.name()), Vec::new())
            }
            Err(Failure::Internal(_)) => (500, "failed with an internal error".to_owned(), Vec::new()),
        };
        let result = ActionResult::new((function.clock)(), status, &detail, started);
        if let Err(error) = function.log.append_result(&entry, &result).await {
            let error = telemetry::chain(&error);
            tracing::error!(error, entry = entry.id, "cannot log the result of an operator's action");
        }
        outcome
    }
}
