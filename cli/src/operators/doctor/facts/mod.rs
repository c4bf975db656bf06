//! The observed facts about a stack, which the checks read. A fact that could not be observed is absent, and its query
//! is in the list of those that were skipped.

mod stack;

use std::time::Duration;

use deployment::quotas::Quota;
use indicatif::HumanDuration;
use longshore_domain::job::{Stage, Status};
use longshore_domain::remote::OpenReason;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

pub(crate) use stack::Stack;

/// Everything that was observed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Time of the observation.
    pub(crate) now: Timestamp,
    /// The stack as CloudFormation describes it.
    pub(crate) stack: Stack,
    /// Alarms.
    pub(crate) alarms: Vec<Alarm>,
    /// Alarms of the stack that do not exist.
    pub(crate) missing_alarms: Vec<MissingAlarm>,
    /// Queues, and dead-letter queues.
    pub(crate) queues: Vec<Queue>,
    /// Functions.
    pub(crate) functions: Vec<Function>,
    /// Mappings of queues to functions.
    pub(crate) mappings: Option<Vec<Mapping>>,
    /// Mappings of the stack's queues to functions that are not those of the stack.
    pub(crate) foreign_readers: Option<Vec<Mapping>>,
    /// The account's quota of concurrent executions.
    pub(crate) quota: Option<Quota>,
    /// Tables.
    pub(crate) tables: Vec<Table>,
    /// Rules of the bucket for uploads from pages of other origins; empty without a configuration.
    pub(crate) cors: Option<Vec<CorsRule>>,
    /// Schedules of the sweeper: one.
    pub(crate) schedules: Option<Vec<Schedule>>,
    /// Handlers whose circuit breaker is open.
    pub(crate) open_breakers: Vec<OpenBreaker>,
    /// The oldest unfinished jobs.
    pub(crate) jobs: UnfinishedJobs,
    /// Webhooks that accept no events.
    pub(crate) failing_webhooks: Vec<FailingWebhook>,
    /// The API's answer.
    pub(crate) api: Option<ApiAnswer>,
    /// Queries that failed.
    pub(crate) skipped: Vec<Skipped>,
}

impl Facts {
    /// Returns the time that has passed, for people.
    pub(crate) fn since(&self, time: Timestamp) -> HumanDuration {
        HumanDuration(Duration::from_secs(u64::from(self.now.seconds_since(time))))
    }
}

/// An alarm.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    /// Id in the template.
    pub(crate) id: String,
    /// Name.
    pub(crate) name: String,
    /// State: OK, ALARM or `INSUFFICIENT_DATA`.
    pub(crate) state: String,
    /// Reason of the state.
    pub(crate) reason: String,
    /// Time of the last change of the state.
    pub(crate) since: Option<Timestamp>,
    /// True if its actions are disabled.
    pub(crate) is_muted: bool,
}

/// An alarm of the stack that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingAlarm {
    /// Id in the template.
    pub(crate) id: String,
    /// Name that it had.
    pub(crate) name: String,
}

/// The API's answer to a call without a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApiAnswer {
    /// Its version.
    Version(String),
    /// 429, at every try.
    Throttled,
    /// No answer, or one without a version, for this reason.
    Failed(String),
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    /// Id in the template.
    pub(crate) id: String,
    /// Name.
    pub(crate) name: String,
    /// ARN.
    pub(crate) arn: String,
    /// Messages that can be received.
    pub(crate) visible: u64,
    /// Messages that are being processed.
    pub(crate) in_flight: u64,
    /// Messages that become visible later.
    pub(crate) delayed: u64,
    /// Age of the oldest message in seconds; `None` without a metric.
    pub(crate) oldest_seconds: Option<u64>,
    /// True if messages that fail repeatedly are moved to a dead-letter queue.
    pub(crate) has_dead_letter_queue: bool,
}

impl Queue {
    /// Returns the number of all messages.
    pub(crate) fn messages(&self) -> u64 {
        self.visible + self.in_flight + self.delayed
    }

    /// Returns true for a dead-letter queue.
    pub(crate) fn is_for_dead_letters(&self) -> bool {
        self.id.ends_with("DeadLetters")
    }
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    /// Id in the template.
    pub(crate) id: String,
    /// Name.
    pub(crate) name: String,
    /// State, such as `Active`.
    pub(crate) state: String,
    /// Reason of the state.
    pub(crate) state_reason: Option<String>,
    /// Status of the last update.
    pub(crate) update: String,
    /// Reason of that status.
    pub(crate) update_reason: Option<String>,
    /// Reserved concurrency, if it is set.
    pub(crate) reserved: Option<u64>,
    /// Time of the last change of code or configuration.
    pub(crate) modified_at: Option<Timestamp>,
    /// Time at which CloudFormation changed it last.
    pub(crate) deployed_at: Option<Timestamp>,
}

/// A mapping of a queue to a function.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    /// Id of the mapping.
    pub(crate) uuid: String,
    /// Id of the function in the template; the name of a function that is not one of the stack.
    pub(crate) function: String,
    /// Name of the queue.
    pub(crate) queue: String,
    /// State, such as `Enabled`.
    pub(crate) state: String,
    /// Maximum concurrency.
    pub(crate) concurrency: Option<u64>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Name.
    pub(crate) name: String,
    /// Status of the table.
    pub(crate) status: String,
    /// Names of its indexes.
    pub(crate) indexes: Vec<String>,
    /// Names of the indexes that cannot be queried.
    pub(crate) unusable_indexes: Vec<String>,
    /// True if expired items are removed.
    pub(crate) expires: Option<bool>,
    /// True if the table can be restored to a point in time.
    pub(crate) has_backups: Option<bool>,
    /// Number of reads and writes of it and of its indexes that were throttled in the last minutes.
    pub(crate) throttled: Option<u64>,
}

/// A rule of the bucket.
#[derive(Clone, Debug)]
pub(crate) struct CorsRule {
    /// Origins.
    pub(crate) origins: Vec<String>,
    /// Methods.
    pub(crate) methods: Vec<String>,
}

/// A schedule of the sweeper.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Name of the rule.
    pub(crate) name: String,
    /// State, such as `ENABLED`.
    pub(crate) state: String,
}

/// An open circuit breaker.
#[derive(Clone, Debug)]
pub(crate) struct OpenBreaker {
    /// The job type.
    pub(crate) job_type: String,
    /// The handler: the ARN of a function, or a URL.
    pub(crate) target: Option<String>,
    /// The reason.
    pub(crate) reason: OpenReason,
    /// Time at which it opened.
    pub(crate) since: Timestamp,
    /// Time of the next try.
    pub(crate) next_try: Timestamp,
}

/// Jobs that have not ended, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnfinishedJobs {
    /// The jobs.
    pub(crate) jobs: Vec<UnfinishedJob>,
    /// True if there are no others. False if some were not read.
    pub(crate) are_all: bool,
}

/// A job that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct UnfinishedJob {
    /// Id.
    pub(crate) id: String,
    /// Tenant, which is compared and not printed.
    pub(crate) tenant: TenantId,
    /// Job type.
    pub(crate) job_type: String,
    /// Status.
    pub(crate) status: Status,
    /// Stage.
    pub(crate) stage: Stage,
    /// True if its file is being prepared, or waits for it.
    pub(crate) is_preparing: bool,
    /// True if an operator has paused its type or its tenant.
    pub(crate) is_paused: bool,
    /// Time from which it waits for its start.
    pub(crate) waits_since: Timestamp,
    /// Time at which it is stopped.
    pub(crate) deadline_at: Timestamp,
}

/// A webhook whose last attempts have failed.
#[derive(Clone, Debug)]
pub(crate) struct FailingWebhook {
    /// Id.
    pub(crate) id: String,
    /// Tenant that owns it.
    pub(crate) tenant: TenantId,
    /// Time of the first failed attempt since the last accepted event.
    pub(crate) since: Timestamp,
}

/// A query that failed, or that the emulator does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Name of the query.
    pub(crate) what: String,
    /// The reason.
    pub(crate) reason: String,
}
