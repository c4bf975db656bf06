//! Notes of what this process receives, seldom enough that they cost next to nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longshore_domain::deliveries::RECORD_EVERY_S;
use longshore_domain::job::Priority;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Delivered, DeliveryRecords, Files, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

use super::{ChunkEnd, ChunkError, Mode, Worker};
use crate::batch::Delivery;
use crate::telemetry;

/// Tenants of which a process remembers the last note.
const TENANTS: usize = 1_000;

/// When this process has noted a receipt for the last time, by tenant and priority.
#[derive(Debug, Default)]
pub struct Receipts(Mutex<BTreeMap<(String, Priority), Timestamp>>);

impl Receipts {
    /// Notes the receipt of a message that was sent at `sent_at`, unless one of its tenant and priority was noted just
    /// before. A failed note is logged and skipped: the sweeper then takes longer to detect a lost message.
    pub async fn note(&self, store: &impl DeliveryRecords, message: &ChunkMessage, sent_at: Timestamp, now: Timestamp) {
        if !self.is_due(message, now) {
            return;
        }
        let delivered = Delivered { tenant: &message.tenant, priority: message.priority, sent_at, at: now };
        if let Err(error) = store.record_delivery(&delivered).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "a delivery is not noted");
        }
    }

    fn is_due(&self, message: &ChunkMessage, now: Timestamp) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (message.tenant.clone(), message.priority);
        if noted.get(&key).is_some_and(|at| now < at.plus_seconds(RECORD_EVERY_S)) {
            return false;
        }
        if noted.len() >= TENANTS {
            noted.clear();
        }
        noted.insert(key, now);
        true
    }
}

impl<S: Store, Q: Queues, F: Files> Worker<'_, S, Q, F> {
    /// Processes a chunk message as delivered by its queue: notes the receipt, and counts the earlier deliveries as
    /// failures.
    ///
    /// # Errors
    /// As [`Worker::work`].
    pub async fn deliver(
        &self,
        receipts: &Receipts,
        message: ChunkMessage,
        delivery: Delivery,
    ) -> Result<ChunkEnd, ChunkError> {
        if let Some(sent_at) = delivery.sent_at {
            receipts.note(&self.ports.store, &message, sent_at, (self.clock)()).await;
        }
        let message = ChunkMessage { failures: message.failures + delivery.failures, ..message };
        self.work(&message, Mode::Work, delivery.deadline).await
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::JobId;
    use longshore_domain::job::Job;

    use super::*;

    #[test]
    fn a_receipt_is_noted_every_ten_seconds_for_each_tenant_and_priority() {
        let receipts = Receipts::default();
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
        let message = |tenant, priority| {
            let job = Job { priority, ..Job::waiting(JobId::generate(), tenant, "import", Timestamp(0)) };
            ChunkMessage::new(&job, (0, 0), &plan)
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
