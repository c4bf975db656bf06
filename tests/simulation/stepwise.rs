//! In-memory services that can be left before and after every call: there a function waits, or dies.

use std::pin::Pin;
use std::task::{Context, Poll};

use longshore::queues::{Backlog, DeadLetter, DeadLetters};
use longshore_domain::gate::{Lease, Waiting};
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome, Group, GroupPlan, Manifest};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Finish, Job, JobError, Priority, Reopen, Stop, Transition};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{
    ChunkState, Created, Definition, FileInfo, Files, IdempotencyKey, JobStore, JobTransitions, JobsPage, JobsWanted,
    Ledger, Page, PortResult, Queues, Read, Removal, Reopened, Slots, Started, Upload, WaitingRoom,
};
use longshore_domain::time_stamp::Timestamp;

/// A service of which each call takes two polls more.
#[derive(Clone, Default)]
pub(crate) struct Stepwise<T>(pub(crate) T);

/// Pending once.
pub(crate) struct Step(pub(crate) bool);

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Woken at once: a collection of futures polls only those that were.
        context.waker().wake_by_ref();
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The calls of a trait, each between two steps.
macro_rules! stepwise {
    ($(async fn $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $(async fn $name(&self $(, $arg: $type)*) -> $result {
            Step(false).await;
            let result = self.0.$name($($arg),*).await;
            Step(false).await;
            result
        })*
    };
}

impl<T: JobStore> JobStore for Stepwise<T> {
    stepwise! {
        async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>>;
        async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>>;
        async fn create_job(&self, job: &Job, definition: &Definition, key: Option<&IdempotencyKey>) -> PortResult<Created<JobId>>;
        async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started>;
        async fn created_before(&self, tenant: &str, key: &IdempotencyKey) -> PortResult<Option<Created<JobId>>>;
        async fn jobs(&self, wanted: &JobsWanted<'_>) -> PortResult<JobsPage>;
        async fn job(&self, id: JobId) -> PortResult<Option<Job>>;
        async fn definition(&self, id: JobId) -> PortResult<Option<Definition>>;
        async fn unfinished(&self, after: Option<String>) -> PortResult<Page<JobId>>;
    }
}

impl<T: JobTransitions> JobTransitions for Stepwise<T> {
    stepwise! {
        async fn begin(&self, id: JobId, now: Timestamp) -> PortResult<Transition>;
        async fn put_columns(&self, id: JobId, columns: &[String]) -> PortResult<()>;
        async fn commit_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition>;
        async fn end_split(&self, job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> PortResult<Transition>;
        async fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> PortResult<Transition>;
        async fn reopen(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened>;
        async fn delete(&self, id: JobId, now: Timestamp) -> PortResult<Transition>;
        async fn finish(&self, id: JobId, finish: &Finish) -> PortResult<Transition>;
        async fn count_resend(&self, id: JobId, seen: u32, now: Timestamp) -> PortResult<Transition>;
    }
}

impl<T: Removal> Removal for Stepwise<T> {
    stepwise! {
        async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<bool>;
        async fn remove(&self, id: JobId) -> PortResult<()>;
    }
}

impl<T: Ledger> Ledger for Stepwise<T> {
    stepwise! {
        async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>>;
        async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome>;
        async fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<Transition>;
        async fn progress(&self, id: JobId) -> PortResult<Option<(Vec<Group>, Job)>>;
        async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>>;
        async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>>;
        async fn called(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()>;
        async fn count_group_resend(&self, id: JobId, group: u32, seen: u32) -> PortResult<bool>;
    }
}

impl<T: Queues> Queues for Stepwise<T> {
    stepwise! {
        async fn send_create(&self, message: &CreateMessage) -> PortResult<()>;
        async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()>;
        async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()>;
    }
}

impl<T: Slots> Slots for Stepwise<T> {
    stepwise! {
        async fn leases(&self, job_type: &str) -> PortResult<Vec<Lease>>;
        async fn take(&self, job_type: &str, lease: &Lease, now: Timestamp) -> PortResult<bool>;
        async fn give_back(&self, job_type: &str, lease: &Lease) -> PortResult<()>;
    }
}

impl<T: WaitingRoom> WaitingRoom for Stepwise<T> {
    stepwise! {
        async fn waiting(&self, job_type: &str, first: usize) -> PortResult<Vec<Waiting>>;
        async fn wait(&self, job_type: &str, waiting: &Waiting) -> PortResult<()>;
        async fn call(&self, job_type: &str, waiting: &Waiting, now: Timestamp) -> PortResult<bool>;
        async fn forget(&self, job_type: &str, waiting: &Waiting) -> PortResult<()>;
    }
}

impl<T: Backlog> Backlog for Stepwise<T> {
    stepwise! {
        async fn chunks(&self, priority: Priority) -> PortResult<u64>;
    }
}

impl<T: DeadLetters> DeadLetters for Stepwise<T> {
    stepwise! {
        async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>>;
        async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>>;
    }
}

impl<T: Files> Files for Stepwise<T> {
    type Stream = T::Stream;
    type Sink = T::Sink;

    stepwise! {
        async fn info(&self, key: &str) -> PortResult<Option<FileInfo>>;
        async fn open(&self, key: &str, etag: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<T::Stream>>;
        async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>>;
        async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()>;
        async fn remove(&self, key: &str) -> PortResult<()>;
        async fn remove_some(&self, prefix: &str) -> PortResult<bool>;
        async fn create(&self, key: &str, content_type: &str) -> PortResult<T::Sink>;
    }
}
