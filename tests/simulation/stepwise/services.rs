//! A step before and after every call of the store.

use longshore_domain::concurrency::{ParkedChunk, Permit, Wake};
use longshore_domain::dataset::Dataset;
use longshore_domain::deliveries::Deliveries;
use longshore_domain::event::{EventsQuery, ListedEvent, MOVE_S};
use longshore_domain::group::{Commit, CommitOutcome, Group, GroupPlan, Manifest};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{
    ChunkQueue, Finish, Job, JobError, MarkUndone, MoveCheckpoint, Preparation, Reopen, SourceFile, Stop, Transition,
};
use longshore_domain::ports::{
    Acquisition, ByAge, ChunkState, Created, Definition, DeliveryRecord, DeliveryRecords, Detected, Events,
    EventsMoved, HandlerStates, IdempotencyKey, JobPosition, JobProgress, JobStore, JobTransitions, JobsPage,
    JobsQuery, Ledger, ParkedChunks, Permits, PortResult, Presets, Removal, Reopened, Replaced, ResendCount, Reserved,
    Started, Sweeps, UndoCreated, Upload, UploadRelease, WakeMark,
};
use longshore_domain::preset::LearntPreset;
use longshore_domain::records::Reading;
use longshore_domain::remote::{HandlerState, RateRequest, ReadState};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::Delivery;
use longshore_testing::{GroupWrite, MemoryStore};

use crate::clock::{step, true_time};
use crate::faults::{self, Fault, after, again, before, is_stale};
use crate::tokens::{TokenUse, Tokens};
use crate::unguarded::{Unguarded, without};

/// Seconds for which a call can be under way.
const UNDER_WAY_S: i64 = 15;

/// A service whose calls take two additional polls.
#[derive(Clone, Default)]
pub(crate) struct Stepwise<T>(pub(crate) T);

/// Clones an argument, because a call can be executed twice.
pub(super) fn cloned<T: Clone>(argument: &T) -> T {
    argument.clone()
}

/// Implements the calls of a trait with a step before and after each, and with faults.
macro_rules! stepwise {
    ($(async fn $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $(async fn $name(&self $(, $arg: $type)*) -> $result {
            let fault = before(stringify!($name)).await?;
            let mut result = self.0.$name($(cloned(&$arg)),*).await;
            if fault == Fault::SentTwice {
                again(stringify!($name)).await;
                result = self.0.$name($($arg),*).await;
            }
            after(stringify!($name), fault).await?;
            result
        })*
    };
}
pub(super) use stepwise;

impl<T: JobStore> JobStore for Stepwise<T> {
    stepwise! {
        async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>>;
        async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>>;
        async fn create_job(&self, job: &Job, definition: &Definition, key: Option<&IdempotencyKey>) -> PortResult<Created<JobId>>;
        async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started>;
        async fn create_undo(&self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> PortResult<UndoCreated>;
        async fn upload_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<FileGuid>>>;
        async fn job_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<JobId>>>;
        async fn jobs(&self, wanted: &JobsQuery<'_>) -> PortResult<JobsPage>;
        async fn job(&self, id: JobId) -> PortResult<Option<Job>>;
        async fn definition(&self, id: JobId) -> PortResult<Option<Definition>>;
    }

    /// Reads an eventually consistent index, which can lack recent changes.
    async fn due_jobs(&self, until: Timestamp, limit: usize) -> PortResult<Vec<JobId>> {
        before("due_jobs").await?;
        let due = self.0.due_jobs(until, limit).await?;
        step().await;
        Ok(if is_stale() { Vec::new() } else { due })
    }

    /// Reads an eventually consistent index, which can lack recent changes.
    async fn unfinished(&self, after: Option<JobPosition>, order: ByAge) -> PortResult<Vec<JobPosition>> {
        before("unfinished").await?;
        let page = self.0.unfinished(after, order).await?;
        step().await;
        Ok(if is_stale() { Vec::new() } else { page })
    }
}

impl JobTransitions for Stepwise<Unguarded<MemoryStore>> {
    /// Executes a transaction, and then reads the job. Other functions can write in between, while the reply to the
    /// transaction is delayed.
    async fn commit_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let fault = before("commit_group").await?;
        let start = true_time();
        let mut applied = self.0.write_group(job.job_id, plan, now)?;
        if fault == Fault::SentTwice {
            let mut tokens = Tokens::default();
            tokens.look_up(0, plan, start);
            again("commit_group").await;
            applied = match tokens.look_up(0, plan, faults::repeated_at(true_time())) {
                TokenUse::First => self.0.write_group(job.job_id, plan, now)?,
                TokenUse::Repeated => applied,
                TokenUse::Mismatch => panic!("the repeated call has a different body"),
            };
        }
        after("commit_group", fault).await?;
        let fault = before("job").await?;
        let transition = self.0.written_group(job.job_id, plan, GroupWrite { at: now, applied });
        after("job", fault).await?;
        Ok(transition)
    }

    stepwise! {
        async fn enqueue(&self, job: &Job, now: Timestamp) -> PortResult<Transition>;
        async fn record_outage(&self, id: JobId, generation: u32, since: Timestamp) -> PortResult<Transition>;
        async fn begin(&self, id: JobId, generation: u32, now: Timestamp) -> PortResult<Transition>;
        async fn put_columns(
            &self,
            id: JobId,
            columns: &[String],
            reading: Option<Reading>,
            detected: Option<&Detected>
        ) -> PortResult<Option<Reading>>;
        async fn record_preparation(&self, job: &Job, uploaded: &SourceFile, preparation: Preparation, now: Timestamp) -> PortResult<Transition>;
        async fn end_preparation(&self, job: &Job, prepared: &SourceFile, now: Timestamp) -> PortResult<Transition>;
        async fn reset_split_resends(&self, id: JobId, generation: u32) -> PortResult<()>;
        async fn end_split(&self, job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> PortResult<Transition>;
        async fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> PortResult<Transition>;
        async fn stop_if_unchanged(&self, read: &Job, stop: &Stop) -> PortResult<Transition>;
        async fn reopen(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened>;
        async fn delete(&self, id: JobId, now: Timestamp) -> PortResult<Transition>;
        async fn delete_if_unchanged(&self, read: &Job, now: Timestamp) -> PortResult<Transition>;
        async fn checkpoint(&self, id: JobId, request: &MoveCheckpoint) -> PortResult<Transition>;
        async fn finish(&self, id: JobId, finish: &Finish) -> PortResult<Transition>;
        async fn count_resend(&self, job: &Job, now: Timestamp) -> PortResult<Transition>;
    }
}

impl<T: Removal> Removal for Stepwise<T> {
    stepwise! {
        async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<UploadRelease>;
        async fn remove(&self, id: JobId) -> PortResult<()>;
    }
}

impl<T: Ledger + JobStore> Ledger for Stepwise<T> {
    /// Reads two records in one call, in an undefined order.
    async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>> {
        before("chunk_state").await?;
        let first = self.0.chunk_state(id, group).await?;
        step().await;
        let second = self.0.chunk_state(id, group).await?;
        step().await;
        Ok(match (first, second) {
            (Some(first), Some(second)) if is_stale() => Some(ChunkState { job: first.job, group: second.group }),
            (Some(first), Some(second)) => Some(ChunkState { job: second.job, group: first.group }),
            _ => None,
        })
    }

    /// Reads the groups, and then the job.
    async fn progress(&self, id: JobId) -> PortResult<Option<JobProgress>> {
        before("progress").await?;
        let groups = self.0.progress(id).await?.map(|progress| progress.groups);
        step().await;
        let job = self.0.job(id).await?;
        step().await;
        Ok(groups.zip(job).map(|(groups, job)| JobProgress { groups, job }))
    }

    stepwise! {
        async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome>;
        async fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<Transition>;
        async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>>;
        async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>>;
        async fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()>;
        async fn reset_group_resends(&self, id: JobId, group: u32) -> PortResult<()>;
        async fn count_group_resend(&self, id: JobId, group: u32, expected_resends: u32, now: Timestamp) -> PortResult<ResendCount>;
    }
}

impl<T: Permits> Permits for Stepwise<T> {
    stepwise! {
        async fn permits(&self, job_type: &str) -> PortResult<Vec<Permit>>;
        async fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp) -> PortResult<Acquisition>;
        async fn release(&self, job_type: &str, permit: &Permit) -> PortResult<()>;
    }
}

impl<T: ParkedChunks> ParkedChunks for Stepwise<T> {
    stepwise! {
        async fn parked(&self, job_type: &str, limit: usize) -> PortResult<Vec<ParkedChunk>>;
        async fn park(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()>;
        async fn mark_woken(&self, job_type: &str, parked: &ParkedChunk, wake: &Wake) -> PortResult<WakeMark>;
        async fn unpark(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()>;
    }
}

impl<T: HandlerStates> HandlerStates for Stepwise<T> {
    stepwise! {
        async fn handler_state(&self, job_type: &str) -> PortResult<ReadState>;
        async fn replace_handler_state(&self, job_type: &str, read: u64, state: &HandlerState, writer: &str) -> PortResult<Replaced>;
        async fn reserve_items(&self, job_type: &str, request: &RateRequest) -> PortResult<Reserved>;
    }
}

impl<T: Presets> Presets for Stepwise<T> {
    stepwise! {
        async fn put_preset(&self, dataset: &Dataset, learnt: &LearntPreset) -> PortResult<()>;
        async fn presets(&self, dataset: &Dataset) -> PortResult<Vec<LearntPreset>>;
    }
}

impl<T: Events> Events for Stepwise<T> {
    /// Executes a transaction that has a time limit. It is not sent after it, not even by a repetition, but it can be
    /// under way for some more seconds.
    async fn move_events(&self, job: &Job, deliveries: &[Delivery], now: Timestamp) -> PortResult<EventsMoved> {
        let start = true_time();
        let in_time = || true_time().millis_since(start) < 1000 * (MOVE_S.cast_signed() + UNDER_WAY_S);
        let fault = before("move_events").await?;
        if !in_time() && !without("events-moved-in-time") {
            return Err(faults::late("move_events"));
        }
        let mut result = self.0.move_events(job, deliveries, now).await;
        if fault == Fault::SentTwice {
            again("move_events").await;
            if in_time() {
                result = self.0.move_events(job, deliveries, now).await;
            }
        }
        after("move_events", fault).await?;
        result
    }

    stepwise! {
        async fn events(&self, query: &EventsQuery<'_>) -> PortResult<Vec<ListedEvent>>;
    }
}

impl<T: Sweeps> Sweeps for Stepwise<T> {
    stepwise! {
        async fn sweep_position(&self) -> PortResult<Option<JobPosition>>;
        async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()>;
    }
}

impl<T: DeliveryRecords> DeliveryRecords for Stepwise<T> {
    stepwise! {
        async fn record_delivery(&self, delivery: &DeliveryRecord<'_>) -> PortResult<()>;
        async fn deliveries(&self, tenant: &TenantId, queue: ChunkQueue) -> PortResult<Deliveries>;
    }
}
