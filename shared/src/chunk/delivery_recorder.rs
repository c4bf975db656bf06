//! Records of the messages that this process receives, written rarely enough to cost almost nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longshore_domain::deliveries::RECORD_EVERY_S;
use longshore_domain::job::ChunkQueue;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{DeliveryRecord, DeliveryRecords};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::telemetry;

/// Maximum number of tenants and queues in memory.
const TENANTS: usize = 1_000;

/// Time of this process's last delivery record, by tenant and queue.
#[derive(Debug, Default)]
pub struct DeliveryRecorder(Mutex<BTreeMap<(TenantId, ChunkQueue), Timestamp>>);

impl DeliveryRecorder {
    /// Records the delivery of a message that was sent at `sent_at`, unless a delivery of its tenant and queue was
    /// recorded recently. A failed write is only logged: the sweeper then takes longer to detect a lost message.
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
        let delivery = DeliveryRecord { tenant: &message.tenant, queue: message.queue(), sent_at, at: now };
        if let Err(error) = store.record_delivery(&delivery).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %message.job_id, error, "cannot record a delivery");
        }
    }

    fn is_due(&self, message: &ChunkMessage, now: Timestamp) -> bool {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (message.tenant.clone(), message.queue());
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

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::job::{Job, Priority};

    use super::*;

    #[test]
    fn a_delivery_is_recorded_every_ten_seconds_for_each_tenant_and_priority() {
        let recorder = DeliveryRecorder::default();
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
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
            assert_eq!(recorder.is_due(&message(tenant, priority), Timestamp(now_ms)), due, "{tenant} {now_ms}");
        }
    }
}
