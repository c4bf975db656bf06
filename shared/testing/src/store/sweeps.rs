//! The position of the sweeps and the delivery records in memory.

use longshore_domain::deliveries::Deliveries;
use longshore_domain::job::ChunkQueue;
use longshore_domain::ports::{DeliveryRecord, DeliveryRecords, JobPosition, PortResult, Sweeps};
use longshore_domain::tenant::TenantId;

use super::MemoryStore;

impl Sweeps for MemoryStore {
    async fn sweep_position(&self) -> PortResult<Option<JobPosition>> {
        Ok(self.records().sweep_position)
    }

    async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()> {
        self.records().sweep_position = position;
        Ok(())
    }
}

impl DeliveryRecords for MemoryStore {
    async fn record_delivery(&self, delivery: &DeliveryRecord<'_>) -> PortResult<()> {
        let key = (delivery.tenant.clone(), delivery.queue);
        self.records().deliveries.entry(key).or_default().record(delivery.sent_at, delivery.at);
        Ok(())
    }

    async fn deliveries(&self, tenant: &TenantId, queue: ChunkQueue) -> PortResult<Deliveries> {
        Ok(self.records().deliveries.get(&(tenant.clone(), queue)).cloned().unwrap_or_default())
    }
}
