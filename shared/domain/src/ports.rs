//! Ports: the traits through which the rules use storage, queues and files, in the domain's terms. Adapters and
//! in-memory fakes implement them and pass one conformance suite.
//!
//! Every write is conditional or idempotent. The result of a condition is a named outcome; [`PortError`] is for
//! unexpected failures.

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

/// The failure of a remote service after its client's own retries: the caller returns the message to its queue.
#[derive(Debug, thiserror::Error)]
#[error("{service}: {operation} failed")]
pub struct PortError {
    /// The service: `store`, `queues` or `files`.
    pub service: &'static str,
    /// The operation, in the port's terms.
    pub operation: &'static str,
    /// The underlying error.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl PortError {
    /// Returns true if nothing was written and the same call may succeed a moment later.
    pub fn is_busy(&self) -> bool {
        self.source.is::<Busy>()
    }
}

/// Transient cause of a [`PortError`]: at every attempt, the service had no capacity for the call, or other writes
/// conflicted with it.
#[derive(Debug, thiserror::Error)]
#[error("the service had no capacity, or other writes met this one, each time")]
pub struct Busy(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The result of a call to a port.
pub type PortResult<T> = Result<T, PortError>;

/// The request behind a job: immutable, and stored separately from the job.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// The options as the client sent them, validated.
    pub options: Value,
    /// Names of the columns, once the splitter has read them; `None` for JSON Lines or a job without a file.
    pub columns: Option<Vec<String>>,
}

/// An upload as it was promised to the client.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Upload {
    /// Id of the upload.
    pub file_guid: FileGuid,
    /// Tenant that owns the upload.
    pub tenant: String,
    /// Object key.
    pub key: String,
    /// The client's name for the file.
    pub file_name: String,
    /// Media type.
    pub content_type: String,
    /// The size, which is signed into the upload URL.
    pub size_bytes: u64,
    /// SHA-256 in base64, if the client gave one; also signed into the upload URL.
    pub sha256: Option<String>,
    /// The multipart upload of a large file; `None` if a single PUT uploads it.
    pub multipart: Option<Multipart>,
    /// Time of the promise: the bytes count for that day, in UTC.
    pub promised_at: Timestamp,
    /// Time of expiry, in seconds.
    pub expires_at: i64,
}

/// A page of a list, with the cursor of the next page.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// The entries of the page.
    pub items: Vec<T>,
    /// Opaque cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// Storage of uploads and jobs.
pub trait JobStore: Send + Sync {
    /// Stores a new upload with its idempotency key and counts its bytes, in one transaction.
    fn create_upload(
        &self,
        upload: &Upload,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<FileGuid>>> + Send;
    /// Reads an upload.
    fn upload(&self, id: FileGuid) -> impl Future<Output = PortResult<Option<Upload>>> + Send;
    /// Stores a new job with its definition and its idempotency key, counts it as active, and records that it uses its
    /// upload, in one transaction.
    fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<JobId>>> + Send;
    /// Stores the import that is started from the validated job `job.started_from`, like [`JobStore::create_job`]
    /// without a key, and records it on that job, in one transaction; see [`Job::start`].
    fn start_job(&self, job: &Job, definition: &Definition) -> impl Future<Output = PortResult<Started>> + Send;
    /// Returns the earlier outcome of an upload's idempotency key, or `None` if the key is free. Reads only.
    fn upload_created_before(
        &self,
        tenant: &str,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<FileGuid>>>> + Send;
    /// Returns the earlier outcome of a job's idempotency key, or `None` if the key is free. Reads only.
    fn job_created_before(
        &self,
        tenant: &str,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<JobId>>>> + Send;
    /// Reads a job, consistently.
    fn job(&self, id: JobId) -> impl Future<Output = PortResult<Option<Job>>> + Send;
    /// Reads a job's definition.
    fn definition(&self, id: JobId) -> impl Future<Output = PortResult<Option<Definition>>> + Send;
    /// Lists a tenant's jobs, newest first. They are found in an index that may lag by a moment, and then read
    /// consistently. A page may have fewer than the limit, or none, with more behind them: only `next` reports if there
    /// are more.
    fn jobs(&self, wanted: &JobsWanted<'_>) -> impl Future<Output = PortResult<JobsPage>> + Send;
    /// Lists some of the jobs that have not ended or are deleted, by age, after `after` in this order; empty if there
    /// are no more. Reads an index that may lag.
    fn unfinished(
        &self,
        after: Option<JobPosition>,
        order: ByAge,
    ) -> impl Future<Output = PortResult<Vec<JobPosition>>> + Send;
}

/// A job's transitions. Each is one conditional write with the meaning of the function of the same name on [`Job`]. On
/// an absent job, every transition is refused.
pub trait JobTransitions: Send + Sync {
    /// Begins the job; see [`Job::begin`].
    fn begin(&self, id: JobId, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Stores the names of the columns with the job's definition. The first write counts; later ones change nothing.
    fn put_columns(&self, id: JobId, columns: &[String]) -> impl Future<Output = PortResult<()>> + Send;
    /// Commits group, manifest and split cursor in one transaction; see [`Job::commit_group`]. `job` is as the splitter
    /// last read it: only its id and its expiry, which the group takes over, are used.
    fn commit_group(
        &self,
        job: &Job,
        plan: &GroupPlan,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Ends the split; see [`Job::end_split`]. Only the id, the generation and the issues of `job` are used.
    fn end_split(
        &self,
        job: &Job,
        groups: u32,
        issues: &[JobError],
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Requests a stop; see [`Job::stop`].
    fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Stops the job like [`Self::stop`], on condition that it is also [unchanged](Job::is_as_seen).
    fn stop_as_seen(&self, seen: &Job, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Deletes the job; see [`Job::delete`]. Also puts it back on the index of unfinished jobs, where it stays until it
    /// is removed.
    fn delete(&self, id: JobId, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Deletes the job like [`Self::delete`], on condition that it is also [unchanged](Job::is_as_seen).
    fn delete_as_seen(&self, seen: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Moves the checkpoint of the completion; see [`Job::move_checkpoint`].
    fn checkpoint(&self, id: JobId, request: &MoveCheckpoint) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Sets the final status; see [`Job::finish`]. Also takes the job off the index of unfinished jobs, unless it is
    /// deleted.
    fn finish(&self, id: JobId, finish: &Finish) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Reopens the job; see [`Job::reopen`]. `job` was read after its end, so nothing of its generation can have
    /// changed since. Also puts the job on the index of unfinished jobs, counts it as active, and records that it uses
    /// its corrected file's upload, in one transaction.
    fn reopen(&self, job: &Job, reopen: &Reopen) -> impl Future<Output = PortResult<Reopened>> + Send;
    /// Counts one more re-send of the create or complete message, if none was counted since `job` was read. Refused
    /// once the status is final or another generation has begun.
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
    /// Commits by one conditional write; see [`Group::commit`].
    fn commit(&self, id: JobId, group: u32, commit: &Commit) -> impl Future<Output = PortResult<CommitOutcome>> + Send;
    /// Records that a group is done; see [`Job::group_done`].
    fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Reads all groups in order, then the job, consistently.
    fn progress(&self, id: JobId) -> impl Future<Output = PortResult<Option<(Vec<Group>, Job)>>> + Send;
    /// Reads as [`Self::progress`] does, but only the groups from number `first` on: those of earlier generations are
    /// not read.
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
    /// Reads the manifest of a group.
    fn manifest(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Manifest>>> + Send;
    /// Closes a group, so that no commit can follow, and returns it. Idempotent.
    fn close(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Group>>> + Send;
    /// Records that a chunk of the group was woken, so that its stall time starts again. Idempotent, and without effect
    /// on an absent or closed group.
    fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
    /// Counts one more re-send of a group's chunks, made at `now`, if the count was `seen` before; false if another was
    /// first.
    fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        seen: u32,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<bool>> + Send;
}

/// Removal of a deleted job's records. Both calls may fail half-way and be repeated.
pub trait Removal: Send + Sync {
    /// Removes the job from its upload, and the upload's record if no other job uses the upload. Returns true if the
    /// file is to be removed too: the upload's record no longer exists.
    fn release_upload(&self, id: JobId, upload: FileGuid) -> impl Future<Output = PortResult<bool>> + Send;
    /// Removes groups, manifests and definition, and the job last. Does nothing to a job that is not deleted.
    fn remove(&self, id: JobId) -> impl Future<Output = PortResult<()>> + Send;
}

/// Storage of everything about jobs.
pub trait Store: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords {}
impl<T: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords> Store for T {}

/// The queues.
pub trait Queues: Send + Sync {
    /// Sends a create message: a request to split.
    fn send_create(&self, message: &CreateMessage) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends chunk messages, delivered no sooner than `delay_s` (0 to 900) from now.
    fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> impl Future<Output = PortResult<()>> + Send;
    /// Sends a complete message: a request to end a job.
    fn send_complete(&self, message: &CompleteMessage) -> impl Future<Output = PortResult<()>> + Send;
}

/// Metadata of an object.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileInfo {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag.
    pub etag: String,
}

/// The outcome of a conditional read.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Read<T> {
    /// The object, or its stream.
    Found(T),
    /// There is no such object.
    Absent,
    /// The object is not the one that the entity tag names.
    Changed,
}

/// A file that is being streamed in.
pub trait FileStream: Send {
    /// Returns the next block; `None` at the end.
    fn next(&mut self) -> impl Future<Output = PortResult<Option<Vec<u8>>>> + Send;
}

/// Storage of sources, work files and reports.
pub trait Files: Send + Sync {
    /// The stream of a file.
    type Stream: FileStream;
    /// Reads a file's metadata; `None` if there is no such file.
    fn info(&self, key: &str) -> impl Future<Output = PortResult<Option<FileInfo>>> + Send;
    /// Streams a file from byte `start` to `end` (exclusive), or to its end. Refuses a file with another entity tag
    /// than `etag`.
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
    /// Writes a small file; replaces one of the same name.
    fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes a file. Idempotent.
    fn remove(&self, key: &str) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes up to a thousand files with this key prefix; true if there may be more.
    fn remove_some(&self, prefix: &str) -> impl Future<Output = PortResult<bool>> + Send;
}
