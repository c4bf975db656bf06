//! The codes of findings that only `doctor` reports. Other findings have the id of an alarm, or the reason for which
//! jobs wait, as their code.

/// A code. The runbook has a section of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The last deployment failed.
    StackFailed,
    /// A deployment is running.
    StackUpdating,
    /// The API does not answer, or refuses the call.
    ApiUnreachable,
    /// The API and this command have different versions.
    VersionSkew,
    /// Alarms notify nobody.
    NoAlarmTopic,
    /// The links of alarms do not lead to the runbook.
    NoRunbookUrl,
    /// An alarm does not exist.
    AlarmMissing,
    /// The actions of an alarm are disabled.
    AlarmMuted,
    /// A queue has so many chunks that creates are refused.
    QueueFull,
    /// A queue has no dead-letter queue.
    QueueChanged,
    /// A queue is not read.
    MappingDisabled,
    /// A function outside the stack reads a queue.
    QueueShared,
    /// A function cannot be invoked, or runs older code.
    FunctionNotReady,
    /// A function has a reserved concurrency.
    FunctionReserved,
    /// A function was changed beside a deployment.
    FunctionChanged,
    /// The account's quota of concurrent executions is too low.
    QuotaTooLow,
    /// A table or an index cannot be used.
    TableNotActive,
    /// A table refuses requests.
    TableThrottled,
    /// A table keeps expired items.
    TtlDisabled,
    /// A table cannot be restored to a point in time.
    BackupsDisabled,
    /// Pages of a permitted origin cannot upload.
    CorsMissing,
    /// Origins of the parameter `AllowedOrigins` have no effect.
    OriginsIgnored,
    /// The sweeper is not invoked.
    ScheduleDisabled,
    /// Jobs wait too long for their split.
    JobsNotStarted,
    /// Webhooks accept no events.
    WebhookFailing,
    /// Jobs are past their time limit.
    JobsOverdue,
}

impl Code {
    /// Every code.
    #[cfg(test)]
    pub(super) const ALL: [Self; 26] = [
        Self::StackFailed,
        Self::StackUpdating,
        Self::ApiUnreachable,
        Self::VersionSkew,
        Self::NoAlarmTopic,
        Self::NoRunbookUrl,
        Self::AlarmMissing,
        Self::AlarmMuted,
        Self::QueueFull,
        Self::QueueChanged,
        Self::MappingDisabled,
        Self::QueueShared,
        Self::FunctionNotReady,
        Self::FunctionReserved,
        Self::FunctionChanged,
        Self::QuotaTooLow,
        Self::TableNotActive,
        Self::TableThrottled,
        Self::TtlDisabled,
        Self::BackupsDisabled,
        Self::CorsMissing,
        Self::OriginsIgnored,
        Self::ScheduleDisabled,
        Self::JobsNotStarted,
        Self::WebhookFailing,
        Self::JobsOverdue,
    ];

    /// Returns the code as the report and the runbook have it. It never changes.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::StackFailed => "stack_failed",
            Self::StackUpdating => "stack_updating",
            Self::ApiUnreachable => "api_unreachable",
            Self::VersionSkew => "version_skew",
            Self::NoAlarmTopic => "no_alarm_topic",
            Self::NoRunbookUrl => "no_runbook_url",
            Self::AlarmMissing => "alarm_missing",
            Self::AlarmMuted => "alarm_muted",
            Self::QueueFull => "queue_full",
            Self::QueueChanged => "queue_changed",
            Self::MappingDisabled => "mapping_disabled",
            Self::QueueShared => "queue_shared",
            Self::FunctionNotReady => "function_not_ready",
            Self::FunctionReserved => "function_reserved",
            Self::FunctionChanged => "function_changed",
            Self::QuotaTooLow => "quota_too_low",
            Self::TableNotActive => "table_not_active",
            Self::TableThrottled => "table_throttled",
            Self::TtlDisabled => "ttl_disabled",
            Self::BackupsDisabled => "backups_disabled",
            Self::CorsMissing => "cors_missing",
            Self::OriginsIgnored => "origins_ignored",
            Self::ScheduleDisabled => "schedule_disabled",
            Self::JobsNotStarted => "jobs_not_started",
            Self::WebhookFailing => "webhook_failing",
            Self::JobsOverdue => "jobs_overdue",
        }
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::operators::doctor::runbook;

    #[test]
    fn codes_and_sections_of_the_runbook_are_the_same() {
        assert_eq!(Code::ALL.len(), Code::JobsOverdue as usize + 1, "the last one");
        let codes: BTreeSet<_> = Code::ALL.into_iter().map(Code::as_str).collect();
        assert_eq!(codes.len(), Code::ALL.len(), "each one once");
        let sections: BTreeSet<_> = runbook::of_doctor().collect();
        assert_eq!(codes, sections);
    }
}
