//! The metrics, with their units and dimensions.

use metrique_writer_core::Unit;
use metrique_writer_core::unit::NegativeScale;

/// Declares the metrics, each once.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// A metric in the namespace `Longshore`.
        #[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
        pub enum Metric {
            $($(#[$doc])* $name,)+
        }

        impl Metric {
            /// All metrics.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the name in CloudWatch.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

metrics! {
    /// Jobs and retries of jobs that have ended. With each of them, 0 is recorded for the status `failed`, so that a ratio
    /// of failed jobs has a value at any time at which jobs end.
    JobsEnded,
    /// Time from the creation of a job, or its start at a later time, to its end; of a retry, from its request.
    JobDuration,
    /// Time from the creation of a job, or its start at a later time, to the first commit of its first chunk.
    TimeToFirstProgress,
    /// Items that succeeded.
    ItemsSucceeded,
    /// Items that failed.
    ItemsFailed,
    /// Items that were skipped.
    ItemsSkipped,
    /// Items that failed, by code: those of the report of a job that has ended, at most
    /// [`FailuresByCode::MAX_CODES`](crate::result::FailuresByCode::MAX_CODES) codes for a job. All codes of a remote
    /// handler are one.
    ItemsFailedByCode,
    /// Age of the oldest job or retry that waits for its start and is not paused, among those that a sweep has visited.
    OldestWaitingJob,
    /// Time from the first message of a chunk to its delivery.
    ChunkWait,
    /// Commits that another worker of the same chunk had overtaken.
    CommitConflicts,
    /// Calls of a remote handler, by result. A job type in Rust has none.
    HandlerCalls,
    /// Time of a call of a remote handler. A job type in Rust has none.
    HandlerDuration,
    /// 1 for each sweep that finds the circuit breaker of a job type open.
    BreakerOpen,
    /// Time from the last commit of a job, or the closing of its last group, to its final status.
    CompletionDuration,
    /// What the sweeper did, by action.
    SweeperActions,
    /// Failures of the sweeper; the next sweep tries again.
    SweeperFailures,
    /// Attempts to deliver an event to a webhook, by result.
    WebhookAttempts,
    /// Time of an attempt to deliver an event.
    WebhookDuration,
}

/// Name of the dimension that every metric has: the stack.
pub const STACK: &str = "Stack";

impl Metric {
    /// Returns the unit: milliseconds for times, which are recorded as a distribution; counts are summed per invocation.
    pub(crate) fn unit(self) -> Unit {
        if self.is_time() { Unit::Second(NegativeScale::Milli) } else { Unit::Count }
    }

    /// Returns the name of the unit in CloudWatch.
    pub fn unit_name(self) -> &'static str {
        self.unit().name()
    }

    /// Returns true for a time, and false for a count.
    pub(crate) fn is_time(self) -> bool {
        matches!(
            self,
            Self::JobDuration
                | Self::TimeToFirstProgress
                | Self::OldestWaitingJob
                | Self::ChunkWait
                | Self::HandlerDuration
                | Self::CompletionDuration
                | Self::WebhookDuration
        )
    }

    /// Returns the names of the dimensions besides [`STACK`]. Each has a bounded number of values: never a job, a tenant, a
    /// key or a URL, because each value is a metric of its own that is paid for.
    pub fn dimensions(self) -> &'static [&'static str] {
        match self {
            Self::JobsEnded => &["JobType", "Status"],
            Self::JobDuration
            | Self::ItemsSucceeded
            | Self::ItemsFailed
            | Self::ItemsSkipped
            | Self::HandlerDuration
            | Self::BreakerOpen => &["JobType"],
            Self::ItemsFailedByCode => &["JobType", "Code"],
            Self::ChunkWait => &["Queue"],
            Self::HandlerCalls => &["JobType", "Result"],
            Self::SweeperActions => &["Action"],
            Self::WebhookAttempts => &["Result"],
            Self::TimeToFirstProgress
            | Self::OldestWaitingJob
            | Self::CommitConflicts
            | Self::CompletionDuration
            | Self::SweeperFailures
            | Self::WebhookDuration => &[],
        }
    }
}
