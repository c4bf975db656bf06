//! A job's transitions.

use std::future::Future;

use super::{Detected, PortResult, Reopened};
use crate::group::GroupPlan;
use crate::ids::JobId;
use crate::job::{Finish, Job, JobError, MoveCheckpoint, Preparation, Reopen, SourceFile, Stop, Transition};
use crate::records::Reading;
use crate::timestamp::Timestamp;

/// A job's transitions. Each is one conditional write with the meaning of the function of the same name on [`Job`]. On
/// an absent job, every transition is refused.
pub trait JobTransitions: Send + Sync {
    /// Makes a scheduled job wait for its start in the queue; see [`Job::enqueue`]. Moves it from the index of what is
    /// due to that of unfinished jobs. Only the id and the times of `job` are used; those of a scheduled job do not
    /// change.
    fn enqueue(&self, job: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Begins the job; see [`Job::begin`].
    fn begin(&self, id: JobId, generation: u32, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Adds the event of a job that waits for its handler; see [`Job::record_outage`].
    fn record_outage(
        &self,
        id: JobId,
        generation: u32,
        since: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Stores the names of the columns with the job's definition, together with the reading of a CSV file and what was
    /// detected in its first rows. The detected options replace those of the definition, so that an earlier version
    /// refuses those that it does not know. The first write counts; later ones change nothing. Returns the stored
    /// reading; `None` if columns were stored without one.
    fn put_columns(
        &self,
        id: JobId,
        columns: &[String],
        reading: Option<Reading>,
        detected: Option<&Detected>,
    ) -> impl Future<Output = PortResult<Option<Reading>>> + Send;
    /// Records the progress of the preparation of the file; see [`Job::record_preparation`]. Of `job`, only
    /// the id, the generation, the groups carried over and the corrected file are used, here and for the end.
    fn record_preparation(
        &self,
        job: &Job,
        uploaded: &SourceFile,
        preparation: Preparation,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Replaces the file by the prepared one; see [`Job::end_preparation`].
    fn end_preparation(
        &self,
        job: &Job,
        prepared: &SourceFile,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Transition>> + Send;
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
    /// Resets the count of re-sends, because a create message has arrived during a pause; see
    /// [`Job::reset_split_resends`].
    fn reset_split_resends(&self, id: JobId, generation: u32) -> impl Future<Output = PortResult<()>> + Send;
    /// Requests a stop; see [`Job::stop`].
    fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Stops the job like [`Self::stop`], on condition that it is also [unchanged](Job::is_unchanged_since).
    fn stop_if_unchanged(&self, read: &Job, stop: &Stop) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Deletes the job; see [`Job::delete`]. Also puts it back on the index of unfinished jobs, where it stays until it
    /// is removed.
    fn delete(&self, id: JobId, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Deletes the job like [`Self::delete`], on condition that it is also [unchanged](Job::is_unchanged_since).
    fn delete_if_unchanged(&self, read: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Moves the checkpoint of the completion; see [`Job::move_checkpoint`].
    fn checkpoint(&self, id: JobId, request: &MoveCheckpoint) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Sets the final status; see [`Job::finish`]. The job stays on the index of the sweeper until its events are
    /// moved.
    fn finish(&self, id: JobId, finish: &Finish) -> impl Future<Output = PortResult<Transition>> + Send;
    /// Reopens the job; see [`Job::reopen`]. `job` was read after its end, so nothing of its generation can have
    /// changed since. Also puts the job on the index of unfinished jobs, counts it as active, and records that it uses
    /// its corrected file's upload, in one transaction.
    fn reopen(&self, job: &Job, reopen: &Reopen) -> impl Future<Output = PortResult<Reopened>> + Send;
    /// Counts one more re-send of the create or complete message, if none was counted since `job` was read. Refused
    /// once the status is final or another generation has started.
    fn count_resend(&self, job: &Job, now: Timestamp) -> impl Future<Output = PortResult<Transition>> + Send;
}
