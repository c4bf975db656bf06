//! The chain from each fault to its end: its signal, the sections of the runbook, and the findings of `doctor`.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, ensure};
use longshore::metrics::Metric;

use super::TEMPLATE;
use super::cloudwatch::{CloudWatch, of_functions};
use super::control::ACTION;
use super::drill::{Drill, Fault};
use super::recovery;
use super::runbook::Runbook;

/// Minutes in which a metric without an alarm is looked at.
const MINUTES: i64 = 5;

/// A signal of a fault.
#[derive(Copy, Clone, Debug)]
pub(super) enum Signal {
    /// Alarms that are raised together.
    Alarms(&'static [&'static str]),
    /// A metric on the dashboard, with the value of its dimension.
    Metric(Metric, &'static str),
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alarms(alarms) => f.write_str(&alarms.join(", ")),
            Self::Metric(metric, value) => write!(f, "{}, {value}", metric.name()),
        }
    }
}

impl Signal {
    /// Returns true if the signal is there at this time.
    pub(super) fn is_on(self, cloudwatch: &CloudWatch, at_ms: i64) -> bool {
        match self {
            Self::Alarms(alarms) => {
                let raised = cloudwatch.raised(at_ms);
                alarms.iter().all(|alarm| raised.iter().any(|rule| rule.id == *alarm))
            }
            Self::Metric(metric, value) => cloudwatch.sum(&of_functions(metric, value), MINUTES, at_ms) > 0.0,
        }
    }

    fn alarms(self) -> &'static [&'static str] {
        match self {
            Self::Alarms(alarms) => alarms,
            Self::Metric(..) => &[],
        }
    }
}

impl Drill {
    /// The signal.
    pub(super) fn signal(self) -> Signal {
        match (self.fault, self.variant) {
            (Fault::PoisonedHandler, _) => Signal::Alarms(&["CircuitBreakerAlarm"]),
            (Fault::ThrottledTable, _) => Signal::Alarms(&["ApiErrorsAlarm"]),
            (Fault::DeadWebhook, _) => Signal::Metric(Metric::WebhookAttempts, "failed"),
            (Fault::StuckSplit, _) => Signal::Alarms(&["SweepSilentAlarm"]),
            (Fault::LostMessages, _) => Signal::Alarms(&["LostChunksAlarm"]),
            (Fault::BadDeployment, 0) => Signal::Alarms(&["ProcessItemErrorsAlarm", "ChunkDeadLettersAlarm"]),
            (Fault::BadDeployment, _) => Signal::Alarms(&["CallHandlerErrorsAlarm", "ChunkDeadLettersAlarm"]),
        }
    }

    /// The codes of the findings.
    pub(super) fn codes(self) -> &'static [&'static str] {
        match self.fault {
            // The local stack has no alarms over formulas, so `doctor` cannot find `CircuitBreakerAlarm` and
            // `ApiErrorsAlarm`.
            Fault::PoisonedHandler => &["handler_unavailable"],
            Fault::ThrottledTable => &["table_throttled"],
            Fault::DeadWebhook => &["webhook_failing"],
            Fault::StuckSplit => &["SweepSilentAlarm", "schedule_disabled", "jobs_not_started"],
            Fault::LostMessages => &["LostChunksAlarm", "queue_shared", "mapping_disabled"],
            Fault::BadDeployment => self.signal().alarms(),
        }
    }

    /// The codes that `doctor` finds for minutes after the fault.
    pub(super) fn lingering(self) -> &'static [&'static str] {
        if self.fault == Fault::ThrottledTable { &["table_throttled"] } else { &[] }
    }

    /// The sections of the runbook: those of the alarms and of the findings.
    pub(super) fn sections(self) -> BTreeSet<&'static str> {
        self.signal().alarms().iter().chain(self.codes()).copied().collect()
    }

    /// The links that can be removed.
    pub(super) fn links(self) -> Vec<&'static str> {
        let metric = match self.signal() {
            Signal::Metric(metric, _) => Some(metric.name()),
            Signal::Alarms(_) => None,
        };
        self.sections().into_iter().chain(metric).chain([ACTION]).collect()
    }

    /// Returns true if the chain has this link.
    pub(super) fn needs(self, link: &str) -> bool {
        self.links().contains(&link)
    }

    /// Fails unless the descriptions of the alarms lead to their sections, a metric is on a dashboard, and every
    /// section says what to do and when it is over.
    pub(super) fn check_links(self, cloudwatch: &CloudWatch, runbook: &Runbook) -> Result<()> {
        for alarm in self.signal().alarms() {
            let anchor = &cloudwatch.rule(alarm)?.anchor;
            ensure!(*anchor == alarm.to_lowercase(), "{alarm} leads to {anchor}");
        }
        if let Signal::Metric(metric, _) = self.signal() {
            let is_shown = TEMPLATE.contains(&format!(r#"MetricName=\"{}\""#, metric.name()));
            ensure!(is_shown, "no dashboard shows {}", metric.name());
        }
        for section in self.sections() {
            runbook.row(section, "do")?;
            recovery::check(section, runbook)?;
        }
        Ok(())
    }
}
