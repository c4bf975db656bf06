//! The ends of faults: the rows `over` of the runbook, and what the game day checks for each.

use anyhow::{Context, Result, ensure};
use longshore::metrics::Metric;

use super::cloudwatch::{CloudWatch, of_functions, of_lambda};
use super::runbook::Runbook;

/// Minutes of the rows that say so.
const MINUTES: i64 = 10;

/// Minutes in which the sweeper must have run each minute. A run and the pause behind it take up to two.
const SWEEP_MINUTES: i64 = 6;

/// The check of a row.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Check {
    /// Nothing more: every job has its exact end, no alarm is raised, and `doctor` finds nothing.
    EndedAndQuiet,
    /// Nothing at this time: `doctor` finds nothing, and no alarm is raised, at the end of the day.
    AtTheEnd,
    /// Less than 5 % of the calls fail. It is checked while callers call.
    ErrorShare,
    /// No circuit breaker is open for ten minutes.
    BreakersClosed,
    /// The sweeper runs, and ends by itself.
    SweeperRuns,
    /// The sweeper has sent no chunks for ten minutes.
    NothingPushed,
    /// A function has not crashed for ten minutes, and there is no dead letter.
    NoCrash(&'static str),
    /// There is no dead letter.
    NoDeadLetters,
    /// No webhook fails, and its deliveries are delivered.
    Delivered,
    /// The diverted queue is empty.
    QueueIsRead,
}

/// The rows `over`, and the check of each.
const ROWS: [(&str, &str, Check); 14] = [
    ("CircuitBreakerAlarm", "the graph has no open circuit breaker for ten minutes", Check::BreakersClosed),
    (
        "handler_unavailable",
        "`longshore operations jobs --status running --type NAME` no longer shows the reason, and `HandlerCalls` of the \
         type with `Result=answered` is above 0",
        Check::EndedAndQuiet,
    ),
    ("ApiErrorsAlarm", "the share of 5xx on the dashboard is below 5 %", Check::ErrorShare),
    (
        "table_throttled",
        "both metrics have no values for three minutes, and `ApiErrorsAlarm` is not raised",
        Check::AtTheEnd,
    ),
    (
        "webhook_failing",
        "`failingSince` of the webhook is gone, and its deliveries have the status `delivered`",
        Check::Delivered,
    ),
    ("SweepSilentAlarm", "its log has `invocation ended` each minute", Check::SweeperRuns),
    ("schedule_disabled", "the log of `sweep` has `invocation ended` each minute", Check::SweeperRuns),
    ("jobs_not_started", "the jobs are `running`", Check::EndedAndQuiet),
    (
        "LostChunksAlarm",
        "`SweeperActions` with `Action=send_chunks` is 0 for ten minutes, and the jobs end",
        Check::NothingPushed,
    ),
    ("queue_shared", "`longshore doctor` does not find it, and the jobs end", Check::EndedAndQuiet),
    ("mapping_disabled", "its state is `Enabled`, and the queue becomes shorter", Check::QueueIsRead),
    (
        "ProcessItemErrorsAlarm",
        "no crash in its log for ten minutes, and no [dead letter](#chunkdeadlettersalarm)",
        Check::NoCrash("ProcessItem"),
    ),
    (
        "CallHandlerErrorsAlarm",
        "no crash in its log for ten minutes, and no [dead letter](#chunkdeadlettersalarm)",
        Check::NoCrash("CallHandler"),
    ),
    (
        "ChunkDeadLettersAlarm",
        "`longshore dead-letters list --queue chunk` is empty, and no new failure has the code `dead_lettered`",
        Check::NoDeadLetters,
    ),
];

/// Returns the check of a section. Fails if the row says something else.
pub(super) fn check(section: &str, runbook: &Runbook) -> Result<Check> {
    let row = runbook.row(section, "over")?;
    let known = ROWS.iter().find(|(name, ..)| *name == section);
    let (_, text, check) = known.with_context(|| format!("the end of {section} is not checked: add it here"))?;
    ensure!(row == *text, "the end of {section} is checked by another row: {row}");
    Ok(*check)
}

impl Check {
    /// Returns true if the metrics say that it is over. Checks without a metric are met.
    pub(super) fn is_met_by(self, cloudwatch: &CloudWatch, at_ms: i64) -> bool {
        let sum = |name, function, minutes| cloudwatch.sum(&of_lambda(name, function), minutes, at_ms);
        match self {
            Self::ErrorShare => cloudwatch.error_share(5, at_ms).is_some_and(|share| share < 5.0),
            Self::BreakersClosed => !cloudwatch.has_open_breaker(MINUTES, at_ms),
            Self::SweeperRuns => {
                let runs = sum("Invocations", "Sweep", SWEEP_MINUTES);
                2.0 * runs >= SWEEP_MINUTES as f64 && sum("Errors", "Sweep", SWEEP_MINUTES) < 1.0
            }
            Self::NothingPushed => {
                cloudwatch.sum(&of_functions(Metric::SweeperActions, "send_chunks"), MINUTES, at_ms) < 1.0
            }
            Self::NoCrash(function) => sum("Errors", function, MINUTES) < 1.0,
            _ => true,
        }
    }
}
