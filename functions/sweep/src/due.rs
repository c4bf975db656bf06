//! Work that is due at a time: scheduled jobs, schedules, and overdue deliveries. The first two have a quarter of the remaining
//! time each.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::Transition;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{JobTypes, PortResult, QueueDepth, Queues, Store};
use longshore_domain::schedule::ScheduleKey;
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{FireEnd, Firer};

use crate::jobs::SweepSummary;
use crate::overdue::TimeBudget;

/// Seconds after which a delivery is overdue: its message has had the time to be processed.
const OVERDUE_S: i64 = 60;

/// Number of messages about webhooks to which a sweep fills their queue: the calls of SQS take some four seconds.
const QUEUED_DELIVERIES: u64 = 2_000;

/// Number of messages that a sweep sends although the queue is full: tenants take turns, and the queue is fair, so that one
/// tenant's messages delay no other tenant's. An outage multiplies no more than these.
const MIN_DELIVERIES: u64 = 200;

/// Number of due items that are read at once.
const PAGE: usize = 500;

/// Number of due items that are processed at the same time.
const CONCURRENT: usize = 16;

/// Maximum number of failed items that a sweep passes over.
const MAX_FAILED: usize = 2_000;

/// Maximum number of occurrences of a schedule in one sweep: after an outage, those that were missed have a reason each.
const MAX_OCCURRENCES: usize = 12;

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
        let act = async |id: &JobId| self.enqueue(*id).await.map(u32::from);
        summary.enqueued = self.drain(until, list, act, ("scheduled jobs", summary)).await;
    }

    /// Fires the schedules whose time has come. Tenants take turns.
    pub(crate) async fn fire_schedules(&self, until: Timestamp, summary: &mut SweepSummary) {
        let list = async |limit| self.ports.store.due_schedules((self.clock)(), limit).await;
        let act = async |key: &ScheduleKey| self.fire_schedule(key, until).await;
        summary.occurrences = self.drain(until, list, act, ("due schedules", summary)).await;
    }

    /// Processes due items until none is left or the time is over. Returns the sum of the results. An item that fails is left to
    /// the next sweep, and does not hold up the others.
    async fn drain<K: Ord + Clone>(
        &self,
        until: Timestamp,
        list: impl AsyncFn(usize) -> PortResult<Vec<K>>,
        act: impl AsyncFn(&K) -> PortResult<u32>,
        (what, summary): (&str, &mut SweepSummary),
    ) -> u32 {
        let budget = TimeBudget { clock: self.clock, until };
        let (mut failed, mut done) = (BTreeSet::new(), 0);
        while !budget.is_over() && failed.len() < MAX_FAILED {
            let limit = PAGE + failed.len();
            let due = match list(limit).await {
                Ok(due) => due,
                Err(error) => {
                    summary.record_failure(&format!("cannot list the {what}"), &error);
                    break;
                }
            };
            let is_last = due.len() < limit;
            let next: Vec<_> = due.into_iter().filter(|key| !failed.contains(key)).collect();
            let calls = next.iter().map(|key| async {
                let result = if budget.is_over() { Ok(0) } else { act(key).await };
                (key.clone(), result)
            });
            let results: Vec<_> = stream::iter(calls).buffer_unordered(CONCURRENT).collect().await;
            let before = (done, failed.len());
            for (key, result) in results {
                match result {
                    Ok(count) => done += count,
                    Err(error) => {
                        summary.record_failure(&format!("cannot process one of the {what}"), &error);
                        failed.insert(key);
                    }
                }
            }
            // The index may lag, and list the same items again.
            if is_last || (done, failed.len()) == before {
                break;
            }
        }
        done
    }

    /// Puts a scheduled job into its queue. Returns false if another call has done so, or if the job was stopped.
    async fn enqueue(&self, id: JobId) -> PortResult<bool> {
        let Some(job) = self.ports.store.job(id).await? else { return Ok(false) };
        let Transition::Made(job) = self.ports.store.enqueue(&job, (self.clock)()).await? else { return Ok(false) };
        self.ports.send_create(&job).await;
        Ok(true)
    }

    /// Fires the occurrences of a schedule that are due, and sends the messages of their jobs. Returns their number.
    async fn fire_schedule(&self, key: &ScheduleKey, until: Timestamp) -> PortResult<u32> {
        let (store, budget) = (&self.ports.store, TimeBudget { clock: self.clock, until });
        let firer = Firer { store, job_types: store, retention_days: self.retention_days };
        let mut occurrences = 0;
        for _ in 0..MAX_OCCURRENCES {
            if budget.is_over() {
                break;
            }
            let Some(schedule) = store.schedule(key).await? else { break };
            let end = firer.fire(&schedule, (self.clock)()).await?;
            let (schedule_id, tenant) = (schedule.schedule_id, &schedule.tenant);
            match &end {
                FireEnd::NotDue | FireEnd::Changed => break,
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
            occurrences += 1;
        }
        Ok(occurrences)
    }

    /// Sends messages for deliveries whose attempt is overdue: those whose wait is longer than the delay of a queue,
    /// and those whose message was lost. Tenants take turns. A message that waits in a long queue gets a duplicate, which
    /// is harmless.
    pub(crate) async fn send_deliveries(&self, summary: &mut SweepSummary) -> PortResult<()> {
        let waiting = self.ports.queues.webhooks().await?;
        let room = QUEUED_DELIVERIES.saturating_sub(waiting).max(MIN_DELIVERIES);
        let before = (self.clock)().plus_seconds(-OVERDUE_S);
        let due = self.ports.store.due_deliveries(before, usize::try_from(room).unwrap_or(usize::MAX)).await?;
        summary.deliveries = u32::try_from(due.len()).unwrap_or(u32::MAX);
        let messages: Vec<_> = due.into_iter().map(|delivery| WebhookMessage::Deliver { delivery }).collect();
        if messages.is_empty() { Ok(()) } else { self.ports.queues.send_webhooks(&messages, 0).await }
    }
}

#[cfg(test)]
#[path = "due_tests.rs"]
mod tests;
