//! What the rules need from the world: few traits, in the domain's words. Adapters and in-memory fakes implement
//! them and pass one conformance suite. Every write is conditional or harmless twice; what a condition met comes
//! back as a named outcome, and [`PortError`] is left for what nobody expects.

mod concurrency;
mod created;
mod dead_letters;
mod deliveries;
mod limits;
mod listing;
mod multipart;
mod sweeps;

use std::future::Future;

use serde_json::Value;

use crate::group::{ChunkPlan, Commit, CommitOutcome, Group, GroupPlan, Manifest};
use crate::ids::{FileGuid, JobId};
use crate::job::{Finish, Job, JobError, MoveCheckpoint, Reopen, Stop, Transition};
use crate::message::{ChunkMessage, CompleteMessage, CreateMessage};
use crate::parts::Multipart;
use crate::time_stamp::Timestamp;

pub use concurrency::{ParkedChunks, Permits};
pub use created::{Created, IdempotencyKey, Started};
pub use dead_letters::DeadLetterRecords;
pub use deliveries::{Delivered, DeliveryRecords};
pub use limits::{CallWindow, Reopened, TenantCounts, TenantLimits};
pub use listing::{JobPosition, JobsPage, JobsWanted};
pub use multipart::{MultipartFiles, MultipartUpload};
pub use sweeps::{ByAge, Sweeps};

/// A remote service failed after its client's own retries: the caller gives the message back to its queue.
#[derive(Debug, thiserror::Error)]
#[error("{service}: {operation} failed")]
pub struct PortError {
    /// Which service: `store`, `queues`, `files`.
    pub service: &'static str,
    /// Which operation, in the port's words.
    pub operation: &'static str,
    /// What it said.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl PortError {
    /// True if nothing was written and the same call may succeed a moment later.
    pub fn is_busy(&self) -> bool {
        self.source.is::<Busy>()
    }
}

/// Transient cause of a [`PortError`]: at every attempt the service had no capacity for the call, or other writes conflicted
/// with it.
#[derive(Debug, thiserror::Error)]
#[error("the service had no capacity, or other writes met this one, each time")]
pub struct Busy(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// A result of a port.
pub type PortResult<T> = Result<T, PortError>;

/// What a job was asked to do: immutable, kept apart from the job.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// The options as the client sent them, checked.
    pub options: Value,
    /// Names of the columns, once the splitter has read them; none for JSON Lines or a job without a file.
    pub columns: Option<Vec<String>>,
}

/// An upload as it was promised to the client.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Upload {
    /// Its id.
    pub file_guid: FileGuid,
    /// Whose it is.
    pub tenant: String,
    /// Object key.
    pub key: String,
    /// The client's name for it.
    pub file_name: String,
    /// Its media type.
    pub content_type: String,
    /// The size that is signed into its URL.
    pub size_bytes: u64,
    /// Its SHA-256 in base64, if the client gave one; signed into its URL, too.
    pub sha256: Option<String>,
    /// How it is put, if it is so large that it goes by parts; else by one PUT.
    pub multipart: Option<Multipart>,
    /// When it was promised: its bytes count for that day, in UTC.
    pub promised_at: Timestamp,
    /// When it is forgotten, in seconds.
    pub expires_at: i64,
}

/// A page of something, and where the next one begins.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Opaque; none on the last page.
    pub next: Option<String>,
}

/// Uploads and jobs as a whole.
pub trait JobStore: Send + Sync {
    /// Stores a new upload with its idempotency key and counts its bytes, all or nothing.
    fn create_upload(
        &self,
        upload: &Upload,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<FileGuid>>> + Send;
    /// Reads an upload.
    fn upload(&self, id: FileGuid) -> impl Future<Output = PortResult<Option<Upload>>> + Send;
    /// Stores a new job with its definition and its idempotency key, counts it as active, and notes that it uses its
    /// upload, all or nothing.
    fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<JobId>>> + Send;
    /// Stores the job that runs an import which `job.started_from` has only checked, like [`JobStore::create_job`]
    /// without a key, and notes it on that job, all or nothing; see [`Job::start`].
    fn start_job(&self, job: &Job, definition: &Definition) -> impl Future<Output = PortResult<Started>> + Send;
    /// Returns what the key says to a create of an upload, or `None` if the key is free. Reads only.
    fn upload_created_before(
        &self,
        tenant: &str,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<FileGuid>>>> + Send;
    /// Returns what the key says to a create of a job, or `None` if the key is free. Reads only.
    fn job_created_before(
        &self,
        tenant: &str,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<JobId>>>> + Send;
    /// Reads a job, consistently.
    fn job(&self, id: JobId) -> impl Future<Output = PortResult<Option<Job>>> + Send;
    /// Reads a job's definition.
    fn definition(&self, id: JobId) -> impl Future<Output = PortResult<Option<Definition>>> + Send;
    /// A tenant's jobs, newest first, found in an index that may lag by a moment, and then read consistently. There
    /// may be fewer than the limit, or none, with more behind them: only `next` says whether there are more.
    fn jobs(&self, wanted: &JobsWanted<'_>) -> impl Future<Output = PortResult<JobsPage>> + Send;
    /// Some of the jobs that have not ended or are deleted, by age, after `after` in this order; none if there are no
    /// more. Reads an index that may lag.
    fn unfinished(
        &self,
        after: Option<JobPosition>,
        order: ByAge,
    ) -> impl Future<Output = PortResult<Vec<JobPosition>>> + Send;
}

/// A job's transitions; each is one conditional write with the meaning of the function of the same name on [`Job`].
/// A job that is absent refuses everything.
pub trait JobTransitions: Send + Sync {
    /// See [`Job::begin`].
    fn begin(&self, id: JobId, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Stores the names of the columns with the job's definition, once: the first names stay.
    fn put_columns(&self, id: JobId, columns: &[String]) -> impl Future<Output = PortResult<()>> + Send;
    /// See [`Job::commit_group`]: group, manifest and split cursor, all or nothing. `job` as the splitter last saw it:
    /// only its id and its expiry, which the group takes over, are read.
    fn commit_group(
        &self,
        job: &Job,
        plan: &GroupPlan,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::end_split`]; of `job` its id, its generation and its issues are read.
    fn end_split(
        &self,
        job: &Job,
        groups: u32,
        issues: &[JobError],
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::stop`].
    fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// The same, if the job is also [as it was seen](Job::is_as_seen).
    fn stop_as_seen(&self, seen: &Job, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::delete`]. Also puts the job back on the index of unfinished ones, where it stays until it is removed.
    fn delete(&self, id: JobId, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// The same, if the job is also [as it was seen](Job::is_as_seen).
    fn delete_as_seen(&self, seen: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::move_checkpoint`].
    fn checkpoint(&self, id: JobId, request: &MoveCheckpoint) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::finish`]. Also takes the job off the index of unfinished ones, unless it is deleted.
    fn finish(&self, id: JobId, finish: &Finish) -> impl Future<Output = PortResult<Transition>> + Send;
    /// See [`Job::reopen`]. `job` as it was read after its end, since when nothing of its generation can have changed.
    /// Also puts the job on the index of unfinished ones, counts it as active, and notes that it uses its corrected
    /// file's upload, all or nothing.
    fn reopen(&self, job: &Job, reopen: &Reopen) -> impl Future<Output = PortResult<Reopened>> + Send;
    /// Counts one more re-send of the create or complete message, if none was counted since `job` was read. Refused
    /// once the status is final, or another generation has begun.
    fn count_resend(&self, job: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
}

/// A worker's view of its chunk: the job and its group, read together.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkState {
    /// The job.
    pub job: Job,
    /// The group.
    pub group: Group,
}

/// The ledger of one job's groups.
pub trait Ledger: Send + Sync {
    /// Reads job and group together, consistently; `None` if either is absent.
    fn chunk_state(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<ChunkState>>> + Send;
    /// See [`Group::commit`]: the one conditional write.
    fn commit(&self, id: JobId, group: u32, commit: &Commit) -> impl Future<Output = PortResult<CommitOutcome>> + Send;
    /// See [`Job::group_done`].
    fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// All groups in order, then the job, consistently.
    fn progress(&self, id: JobId) -> impl Future<Output = PortResult<Option<(Vec<Group>, Job)>>> + Send;
    /// The same for the groups from number `first` on: those of earlier generations are not read.
    fn progress_from(
        &self,
        id: JobId,
        first: u32,
    ) -> impl Future<Output = PortResult<Option<(Vec<Group>, Job)>>> + Send {
        async move {
            let read = self.progress(id).await?;
            Ok(read.map(|(groups, job)| (groups.into_iter().filter(|group| group.number >= first).collect(), job)))
        }
    }
    /// The plan of a group.
    fn manifest(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Manifest>>> + Send;
    /// Closes a group: no commit can follow. Harmless twice. The group as it then is.
    fn close(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Group>>> + Send;
    /// Notes that a chunk of the group was called in from its gate, so that its patience starts again. Idempotent, and
    /// has no effect on an absent or closed group.
    fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
    /// Counts one more re-send of a group's chunks, made at `now`, if it was `seen` before; false if another was first.
    fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        seen: u32,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<bool>> + Send;
}

/// What takes a deleted job's records away. Both calls may die half-way and be made again.
pub trait Removal: Send + Sync {
    /// Takes the job off its upload, and the upload's record away if no other job uses the same one. True if the file
    /// is to go too: there is no such record any more.
    fn release_upload(&self, id: JobId, upload: FileGuid) -> impl Future<Output = PortResult<bool>> + Send;
    /// Removes groups, manifests and definition, and the job last. Does nothing to a job that is not deleted.
    fn remove(&self, id: JobId) -> impl Future<Output = PortResult<()>> + Send;
}

/// Everything that is stored about jobs.
pub trait Store: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords {}
impl<T: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords> Store for T {}

/// The queues.
pub trait Queues: Send + Sync {
    /// Asks for a split.
    fn send_create(&self, message: &CreateMessage) -> impl Future<Output = PortResult<()>> + Send;
    /// Asks for chunks to be worked, no sooner than `delay_s` (0 to 900) from now.
    fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> impl Future<Output = PortResult<()>> + Send;
    /// Asks for the end of a job.
    fn send_complete(&self, message: &CompleteMessage) -> impl Future<Output = PortResult<()>> + Send;
}

/// What is known of an object.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileInfo {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag.
    pub etag: String,
}

/// What a read met.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Read<T> {
    /// It is there.
    Found(T),
    /// There is no such object.
    Absent,
    /// It is not the object that the entity tag names.
    Changed,
}

/// A file that is being read.
pub trait FileStream: Send {
    /// The next block; `None` at the end.
    fn next(&mut self) -> impl Future<Output = PortResult<Option<Vec<u8>>>> + Send;
}

/// Sources, work files and reports.
pub trait Files: Send + Sync {
    /// How a file is streamed in.
    type Stream: FileStream;
    /// Looks at a file without reading it.
    fn info(&self, key: &str) -> impl Future<Output = PortResult<Option<FileInfo>>> + Send;
    /// Streams a file from byte `start` on; `end` exclusive, to the end if none. Refuses another than `etag` names.
    fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> impl Future<Output = PortResult<Read<Self::Stream>>> + Send;
    /// Reads a small file, or the range of a chunk, as a whole.
    fn read(
        &self,
        key: &str,
        etag: Option<&str>,
        plan: Option<&ChunkPlan>,
    ) -> impl Future<Output = PortResult<Read<Vec<u8>>>> + Send;
    /// Writes a small file, over one of the same name.
    fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes a file. Harmless if there is none.
    fn remove(&self, key: &str) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes up to a thousand files whose keys begin so; true if there may be more.
    fn remove_some(&self, prefix: &str) -> impl Future<Output = PortResult<bool>> + Send;
}
