//! Work that is due at a time: scheduled jobs, schedules, schedules whose options must be checked first, and overdue
//! deliveries. Each has a quarter of the remaining time; the list of deliveries is read as a whole.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::job::Transition;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{JobTypes, PortResult, QueueDepth, Queues, Store};
use longshore_domain::schedule::ScheduleKey;
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{CheckOptions, FireEnd, Firer};
use tracing::Instrument;

use crate::jobs::SweepSummary;
use crate::options::{ChecksInTime, LeftToLater};
use crate::overdue::TimeBudget;

/// Seconds after which a delivery is overdue: its message has had the time to be processed.
const OVERDUE_S: i64 = 60;

/// Number of messages about webhooks to which a sweep fills their queue: the calls of SQS take some four seconds.
const QUEUED_DELIVERIES: u64 = 2_000;

/// Number of messages that a sweep sends although the queue is full: tenants take turns, and the queue is fair, so that one
/// tenant's messages delay no other tenant's. An outage multiplies no more than these.
const MIN_DELIVERIES: u64 = 200;

/// Number of messages about webhooks that are sent before the time is checked.
const SENT_DELIVERIES: usize = 100;

/// Number of due items that are read at once.
const PAGE: usize = 500;

/// Number of due items that are processed at the same time.
const CONCURRENT: usize = 16;

/// Maximum number of items that a part of a sweep passes over: they have failed, or are left to a later part.
const MAX_PASSED: usize = 2_000;

/// Maximum number of occurrences of a schedule in one sweep: after an outage, those that were missed have a reason each.
const MAX_OCCURRENCES: usize = 12;

/// The result of processing a due item.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct Processed {
    /// Number of what was done.
    count: u32,
    /// True if the item stays due, for a later part of the sweep.
    is_left: bool,
}

/// The result of processing due items.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct Drained {
    /// Sum of what was done.
    count: u32,
    /// Number of items that are left to a later part of the sweep.
    left: usize,
}

/// The part of a sweep that processes what is due.
pub(crate) struct DueSweep<'a, S, Q, F> {
    pub(crate) ports: &'a Ports<S, Q, F>,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) retention_days: i64,
}

impl<S: Store + JobTypes, Q: Queues + QueueDepth, F: Sync> DueSweep<'_, S, Q, F> {
    /// Puts scheduled jobs whose time has come into their queue. A job whose message is lost is unfinished by then, and the
    /// sweep of the jobs sends another one.
    pub(crate) async fn enqueue_jobs(&self, until: Timestamp, summary: &mut SweepSummary) {
        let list = async |limit| self.ports.store.due_jobs((self.clock)(), limit).await;
        let act = async |id: &JobId| {
            let is_enqueued = self.enqueue(*id).instrument(telemetry::job_span(*id)).await?;
            Ok(Processed { count: is_enqueued.into(), is_left: false })
        };
        summary.enqueued = self.drain(until, list, act, ("scheduled jobs", summary)).await.count;
    }

    /// Fires the schedules whose time has come. Tenants take turns. Returns the number of those that are left, because
    /// their options must be checked first.
    pub(crate) async fn fire_schedules(&self, until: Timestamp, summary: &mut SweepSummary) -> usize {
        let drained = self.drain_schedules(until, &LeftToLater, summary).await;
        summary.occurrences = drained.count;
        drained.left
    }

    /// Fires the schedules whose time has come, and checks their options if that is needed. Tenants take turns. What is
    /// not checked in time is left to the next sweep.
    pub(crate) async fn check_schedules(&self, until: Timestamp, summary: &mut SweepSummary) {
        let checks = ChecksInTime::new(TimeBudget { clock: self.clock, until });
        summary.occurrences += self.drain_schedules(until, &checks, summary).await.count;
    }

    async fn drain_schedules(
        &self,
        until: Timestamp,
        options: &impl CheckOptions,
        summary: &mut SweepSummary,
    ) -> Drained {
        let list = async |limit| self.ports.store.due_schedules((self.clock)(), limit).await;
        let act = async |key: &ScheduleKey| self.fire_schedule(key, options, until).await;
        self.drain(until, list, act, ("due schedules", summary)).await
    }

    /// Processes due items until none is left or the time is over. An item that fails is left to the next sweep, and does
    /// not hold up the others.
    async fn drain<K: Ord + Clone>(
        &self,
        until: Timestamp,
        list: impl AsyncFn(usize) -> PortResult<Vec<K>>,
        act: impl AsyncFn(&K) -> PortResult<Processed>,
        (what, summary): (&str, &mut SweepSummary),
    ) -> Drained {
        let budget = TimeBudget { clock: self.clock, until };
        let (mut passed, mut drained) = (BTreeSet::new(), Drained::default());
        while !budget.is_over() && passed.len() < MAX_PASSED {
            let limit = PAGE + passed.len();
            let due = match list(limit).await {
                Ok(due) => due,
                Err(error) => {
                    summary.record_failure(&format!("cannot list the {what}"), &error);
                    break;
                }
            };
            let is_last = due.len() < limit;
            let next: Vec<_> = due.into_iter().filter(|key| !passed.contains(key)).collect();
            let calls = next.iter().map(|key| async {
                let result = if budget.is_over() { Ok(Processed::default()) } else { act(key).await };
                (key.clone(), result)
            });
            let results: Vec<_> = stream::iter(calls).buffer_unordered(CONCURRENT).collect().await;
            let before = (drained.count, passed.len());
            for (key, result) in results {
                match result {
                    Ok(Processed { count, is_left }) => {
                        drained.count += count;
                        if is_left {
                            drained.left += 1;
                            passed.insert(key);
                        }
                    }
                    Err(error) => {
                        summary.record_failure(&format!("cannot process one of the {what}"), &error);
                        passed.insert(key);
                    }
                }
            }
            // The index may lag, and list the same items again.
            if is_last || (drained.count, passed.len()) == before {
                break;
            }
        }
        drained
    }

    /// Puts a scheduled job into its queue. Returns false if another call has done so, or if the job was stopped.
    async fn enqueue(&self, id: JobId) -> PortResult<bool> {
        let Some(job) = self.ports.store.job(id).await? else { return Ok(false) };
        telemetry::record_job(&job);
        let Transition::Made(job) = self.ports.store.enqueue(&job, (self.clock)()).await? else { return Ok(false) };
        self.ports.send_create(&job).await;
        Ok(true)
    }

    /// Fires the occurrences of a schedule that are due, and sends the messages of their jobs.
    async fn fire_schedule(
        &self,
        key: &ScheduleKey,
        options: &impl CheckOptions,
        until: Timestamp,
    ) -> PortResult<Processed> {
        let (store, budget) = (&self.ports.store, TimeBudget { clock: self.clock, until });
        let firer = Firer { store, job_types: store, options, retention_days: self.retention_days };
        let mut processed = Processed::default();
        for _ in 0..MAX_OCCURRENCES {
            if budget.is_over() {
                break;
            }
            let Some(schedule) = store.schedule(key).await? else { break };
            let end = firer.fire(&schedule, (self.clock)()).await?;
            let (schedule_id, tenant) = (schedule.schedule_id, &schedule.tenant);
            match &end {
                FireEnd::NotDue | FireEnd::Changed => break,
                FireEnd::Unchecked => {
                    processed.is_left = true;
                    break;
                }
                FireEnd::Started(job) => {
                    tracing::info!(schedule.id = %schedule_id, %tenant, job.id = %job.job_id, "a schedule has made a job");
                    self.ports.send_create(job).await;
                }
                FireEnd::Skipped(reason) => {
                    tracing::info!(schedule.id = %schedule_id, %tenant, ?reason, "an occurrence was skipped");
                }
                FireEnd::Failed(refusal) => {
                    let code = refusal.code();
                    tracing::warn!(schedule.id = %schedule_id, %tenant, code, "an occurrence has failed");
                }
            }
            processed.count += 1;
        }
        Ok(processed)
    }

    /// Sends messages for deliveries whose attempt is overdue: those whose wait is longer than the delay of a queue,
    /// and those whose message was lost. Tenants take turns. A message that waits in a long queue gets a duplicate, which
    /// is harmless. Sends none after a time, because jobs must be visited too.
    pub(crate) async fn send_deliveries(&self, until: Timestamp, summary: &mut SweepSummary) -> PortResult<()> {
        let waiting = self.ports.queues.webhooks().await?;
        let room = QUEUED_DELIVERIES.saturating_sub(waiting).max(MIN_DELIVERIES);
        let before = (self.clock)().plus_seconds(-OVERDUE_S);
        let due = self.ports.store.due_deliveries(before, usize::try_from(room).unwrap_or(usize::MAX)).await?;
        let messages: Vec<_> = due.into_iter().map(|delivery| WebhookMessage::Deliver { delivery }).collect();
        let budget = TimeBudget { clock: self.clock, until };
        for messages in messages.chunks(SENT_DELIVERIES).take_while(|_| !budget.is_over()) {
            self.ports.queues.send_webhooks(messages, 0).await?;
            summary.deliveries += u32::try_from(messages.len()).unwrap_or(u32::MAX);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "due_tests.rs"]
mod tests;
