//! Records of the messages that this process receives, rare enough to cost next to nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longshore_domain::deliveries::RECORD_EVERY_S;
use longshore_domain::job::Priority;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Delivered, DeliveryRecords, Files, Queues, Store};
use longshore_domain::tenant::TenantId;
use longshore_domain::time_stamp::Timestamp;

use super::delivery::{ChunkEnd, ChunkError, Mode};
use super::worker::Worker;
use crate::batch::Delivery;
use crate::telemetry;

/// Number of tenants whose last record a process remembers.
const TENANTS: usize = 1_000;

/// Time of this process's last delivery record, by tenant and priority.
#[derive(Debug, Default)]
pub struct Receipts(Mutex<BTreeMap<(TenantId, Priority), Timestamp>>);

impl Receipts {
    /// Records the delivery of a message that was sent at `sent_at`, unless one of its tenant and priority
    /// was recorded just before. A failed record is logged and skipped: the sweeper then takes longer to
    /// detect a lost message.
    pub async fn record(
        &self,
        store: &impl DeliveryRecords,
        message: &ChunkMessage,
        sent_at: Timestamp,
        now: Timestamp,
    ) {
        if !self.is_due(message, now) {
            return;
        }
        let delivered = Delivered { tenant: &message.tenant, priority: message.priority, sent_at, at: now };
        if let Err(error) = store.record_delivery(&delivered).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "a delivery was not recorded");
        }
    }

    fn is_due(&self, message: &ChunkMessage, now: Timestamp) -> bool {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (message.tenant.clone(), message.priority);
        if recorded.get(&key).is_some_and(|at| now < at.plus_seconds(RECORD_EVERY_S)) {
            return false;
        }
        if recorded.len() >= TENANTS {
            recorded.clear();
        }
        recorded.insert(key, now);
        true
    }
}

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk message as delivered by its queue: records the delivery, and counts the earlier
    /// deliveries as failures.
    ///
    /// # Errors
    /// See [`Worker::work`].
    pub async fn deliver(
        &self,
        receipts: &Receipts,
        message: ChunkMessage,
        delivery: Delivery,
    ) -> Result<ChunkEnd, ChunkError> {
        if let Some(sent_at) = delivery.sent_at {
            receipts.record(&self.ports.store, &message, sent_at, (self.clock)()).await;
        }
        let message = ChunkMessage { failures: message.failures + delivery.failures, ..message };
        self.work(&message, Mode::Work, delivery.deadline).await
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::job::Job;

    use super::*;

    #[test]
    fn a_receipt_is_recorded_every_ten_seconds_for_each_tenant_and_priority() {
        let receipts = Receipts::default();
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
        let message = |tenant, priority| {
            let job = Job {
                priority,
                ..Job::waiting(JobId::generate(), TenantId::from_static(tenant), "import", Timestamp(0))
            };
            ChunkMessage::new(&job, ChunkId::default(), &plan)
        };
        for (tenant, priority, now_ms, due) in [
            ("a", Priority::Normal, 0, true),
            ("a", Priority::Normal, 9_999, false),
            ("b", Priority::Normal, 9_999, true),
            ("a", Priority::Low, 9_999, true),
            ("a", Priority::Normal, 10_000, true),
        ] {
            assert_eq!(receipts.is_due(&message(tenant, priority), Timestamp(now_ms)), due, "{tenant} {now_ms}");
        }
    }
}
