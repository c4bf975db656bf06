//! The ledger: the records of a job's groups, with their counts and cursors.

use std::future::Future;

use super::PortResult;
use crate::group::{Commit, CommitOutcome, Group, Manifest};
use crate::ids::{FileGuid, JobId};
use crate::job::{Job, Transition};
use crate::timestamp::Timestamp;

/// A worker's view of its chunk: the job and its group, read together.
#[derive(Clone, PartialEq, Debug)]
pub struct ChunkState {
    /// The job.
    pub job: Job,
    /// The group.
    pub group: Group,
}

/// A job with its groups, read together.
#[derive(Clone, PartialEq, Debug)]
pub struct JobProgress {
    /// The groups, by number.
    pub groups: Vec<Group>,
    /// The job, read after the groups.
    pub job: Job,
}

/// The outcome of counting a re-send of a group's chunks.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ResendCount {
    /// Counted.
    Counted,
    /// Another call was first, or the group does not exist.
    Overtaken,
}

/// Result of the release of an upload.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum UploadRelease {
    /// The upload's record no longer exists: the file is to be removed too.
    RemoveFile,
    /// Another job uses the upload.
    KeepFile,
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
    fn progress(&self, id: JobId) -> impl Future<Output = PortResult<Option<JobProgress>>> + Send;
    /// Reads as [`Self::progress`] does, but only the groups from number `first` on: those of earlier generations are
    /// not read.
    fn progress_from(&self, id: JobId, first: u32) -> impl Future<Output = PortResult<Option<JobProgress>>> + Send {
        async move {
            let mut progress = self.progress(id).await?;
            progress.iter_mut().for_each(|progress| progress.groups.retain(|group| group.number >= first));
            Ok(progress)
        }
    }
    /// Reads the manifest of a group.
    fn manifest(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Manifest>>> + Send;
    /// Closes a group, so that no commit can follow, and returns it. Idempotent.
    fn close(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<Option<Group>>> + Send;
    /// Records that a chunk of the group was woken, so that its stall time starts again. Idempotent, and without effect
    /// on an absent or closed group.
    fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> impl Future<Output = PortResult<()>> + Send;
    /// Resets the count of a group's re-sends, because a message of one of its chunks has arrived during a pause; see
    /// [`Group::reset_resends`].
    fn reset_group_resends(&self, id: JobId, group: u32) -> impl Future<Output = PortResult<()>> + Send;
    /// Counts one more re-send of a group's chunks, made at `now`, if the count was `expected_resends` before.
    fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        expected_resends: u32,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<ResendCount>> + Send;
}

/// Removal of a deleted job's records. Both calls may fail half-way and be repeated.
pub trait Removal: Send + Sync {
    /// Removes the job from its upload, and the upload's record if no other job uses the upload.
    fn release_upload(&self, id: JobId, upload: FileGuid) -> impl Future<Output = PortResult<UploadRelease>> + Send;
    /// Removes groups, manifests and definition, and the job last. Does nothing to a job that is not deleted.
    fn remove(&self, id: JobId) -> impl Future<Output = PortResult<()>> + Send;
}
