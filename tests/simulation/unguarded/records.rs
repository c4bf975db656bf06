//! Permits and parked chunks with one of their conditions removed, and records whose writes have no such condition.

use longshore_domain::concurrency::{ParkedChunk, Permit, Wake};
use longshore_domain::cost::{Month, MonthCost};
use longshore_domain::dataset::Dataset;
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution};
use longshore_domain::deliveries::Deliveries;
use longshore_domain::event::{EventsQuery, ListedEvent};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{ChunkQueue, Job};
use longshore_domain::ports::{
    Acquisition, CallCount, DeadLetterRecords, DeliveryRecord, DeliveryRecords, Events, EventsMoved, HandlerStates,
    JobPosition, Page, ParkedChunks, Permits, PortResult, Presets, Removal, Replaced, Reserved, Sweeps, TenantCounts,
    UploadRelease, WakeMark,
};
use longshore_domain::preset::LearntPreset;
use longshore_domain::remote::{HandlerState, RateRequest, ReadState};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::Delivery;
use longshore_testing::MemoryStore;

use super::handlers::state_as_read;
use super::{Unguarded, as_is, without};

/// Minimum number of parked chunks that a sweep asks for. Those who wake chunks ask for fewer.
const READ_OF_A_SWEEP: usize = 10_000;

impl Permits for Unguarded<MemoryStore> {
    as_is! {
        async fn permits(&self, job_type: &str) -> PortResult<Vec<Permit>>;
    }

    async fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp) -> PortResult<Acquisition> {
        if without("permits-acquired-when-free") {
            self.force_release(job_type, permit.number).await?;
        }
        self.0.acquire(job_type, permit, now).await
    }

    async fn release(&self, job_type: &str, permit: &Permit) -> PortResult<()> {
        if without("permits-released") {
            return Ok(());
        }
        if without("permits-released-by-their-holder") {
            return self.force_release(job_type, permit.number).await;
        }
        self.0.release(job_type, permit).await
    }
}

impl Unguarded<MemoryStore> {
    /// Releases a permit regardless of its holder.
    async fn force_release(&self, job_type: &str, number: u32) -> PortResult<()> {
        for permit in self.0.permits(job_type).await?.into_iter().filter(|permit| permit.number == number) {
            self.0.release(job_type, &permit).await?;
        }
        Ok(())
    }

    /// The current record of a parked chunk.
    async fn current_record(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<ParkedChunk> {
        let records = self.0.parked(job_type, usize::MAX).await?;
        Ok(records.into_iter().find(|record| record.name() == parked.name()).unwrap_or_else(|| parked.clone()))
    }
}

impl ParkedChunks for Unguarded<MemoryStore> {
    as_is! {
        async fn park(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()>;
    }

    async fn parked(&self, job_type: &str, limit: usize) -> PortResult<Vec<ParkedChunk>> {
        if limit >= READ_OF_A_SWEEP && without("parked-chunks-are-not-stalled") {
            return Ok(Vec::new());
        }
        self.0.parked(job_type, limit).await
    }

    async fn mark_woken(&self, job_type: &str, parked: &ParkedChunk, wake: &Wake) -> PortResult<WakeMark> {
        if without("called-by-one") {
            return self.0.mark_woken(job_type, &self.current_record(job_type, parked).await?, wake).await;
        }
        self.0.mark_woken(job_type, parked, wake).await
    }

    async fn unpark(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        if without("forgotten-as-it-was-read") {
            return self.0.unpark(job_type, &self.current_record(job_type, parked).await?).await;
        }
        self.0.unpark(job_type, parked).await
    }
}

impl Presets for Unguarded<MemoryStore> {
    as_is! {
        async fn put_preset(&self, dataset: &Dataset, learnt: &LearntPreset) -> PortResult<()>;
        async fn presets(&self, dataset: &Dataset) -> PortResult<Vec<LearntPreset>>;
    }
}

impl HandlerStates for Unguarded<MemoryStore> {
    as_is! {
        async fn replace_handler_state(&self, job_type: &str, read: u64, state: &HandlerState, writer: &str) -> PortResult<Replaced>;
    }

    async fn handler_state(&self, job_type: &str) -> PortResult<ReadState> {
        let read = self.0.handler_state(job_type).await?;
        Ok(ReadState { state: state_as_read(read.state), ..read })
    }

    /// Without the condition, a worker adds to the time that it last read.
    async fn reserve_items(&self, job_type: &str, request: &RateRequest) -> PortResult<Reserved> {
        if !without("rate-added-to-the-stored-time") {
            return self.0.reserve_items(job_type, request).await;
        }
        let reserved = request.after(request.last_read()).unwrap_or(request.earliest());
        Ok(Reserved::Reserved(self.0.amend_reserved(job_type, reserved)))
    }
}

impl Events for Unguarded<MemoryStore> {
    async fn move_events(&self, job: &Job, deliveries: &[Delivery], now: Timestamp) -> PortResult<EventsMoved> {
        // Only a move that has deliveries needs them.
        let deliveries = if !deliveries.is_empty() && without("deliveries-with-events") { &[] } else { deliveries };
        if !without("events-moved-as-read") {
            return self.0.move_events(job, deliveries, now).await;
        }
        self.force(job.job_id, |stored| stored.pending_events.extend(&job.pending_events));
        let Some(stored) = self.stored(job.job_id) else { return Ok(EventsMoved::Changed) };
        self.0.move_events(&stored, deliveries, now).await
    }

    as_is! {
        async fn events(&self, query: &EventsQuery<'_>) -> PortResult<Vec<ListedEvent>>;
    }
}

impl Sweeps for Unguarded<MemoryStore> {
    as_is! {
        async fn sweep_position(&self) -> PortResult<Option<JobPosition>>;
        async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()>;
    }
}

impl TenantCounts for Unguarded<MemoryStore> {
    as_is! {
        async fn count_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount>;
        async fn active_jobs(&self, tenant: &TenantId) -> PortResult<u64>;
        async fn month_costs(&self, month: &Month, tenant: Option<&TenantId>) -> PortResult<Vec<MonthCost>>;
    }
}

impl DeliveryRecords for Unguarded<MemoryStore> {
    as_is! {
        async fn record_delivery(&self, delivery: &DeliveryRecord<'_>) -> PortResult<()>;
        async fn deliveries(&self, tenant: &TenantId, queue: ChunkQueue) -> PortResult<Deliveries>;
    }
}

impl Removal for Unguarded<MemoryStore> {
    as_is! {
        async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<UploadRelease>;
        async fn remove(&self, id: JobId) -> PortResult<()>;
    }
}

impl DeadLetterRecords for Unguarded<MemoryStore> {
    as_is! {
        async fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()>;
        async fn dead_letter(&self, id: &str) -> PortResult<Option<DeadLetterRecord>>;
        async fn body(&self, dead_letter: &DeadLetterRecord) -> PortResult<Option<String>>;
        async fn dead_letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetterRecord>>;
        async fn resolve(&self, id: &str, resolution: &Resolution) -> PortResult<Option<DeadLetterRecord>>;
    }
}
