//! Tells a caller's own earlier write from another's, when a condition refuses a call that was sent twice.
//!
//! The SDK repeats a call whose reply was lost; if the first try took, the second one finds its condition broken by
//! itself. So each refusal is followed by the question asked here of what is stored, and "it is what this call would
//! have written" makes the answer `Made`. Two callers with the same arguments in the same millisecond are both told
//! so: that is harmless, because the write happened once and what follows it may happen twice.

use longshore_domain::group::Manifest;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, JobError, MoveCheckpoint, Reopen, Stage, Stop};
use longshore_domain::ports::{Created, IdempotencyKey, Started};
use longshore_domain::time_stamp::Timestamp;

/// `begin` at `now` took: the start time is the caller's.
pub fn began(job: &Job, now: Timestamp) -> bool {
    job.times.started_at == Some(now)
}

/// A group as a store keeps it for this question: its manifest and when it was committed.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct CommittedGroup {
    /// The plan.
    pub manifest: Manifest,
    /// The splitter's time.
    pub at: Timestamp,
}

/// `commit_group` took, and the job, which was read after it, is as it left it: the group is the last one, of the
/// caller's generation, with the caller's chunks at the caller's time. If another group has followed, or another
/// generation, another splitter is at work: the caller's place is not the job's any more.
pub fn committed(job: &Job, generation: u32, stored: Option<&CommittedGroup>, own: &CommittedGroup) -> bool {
    (job.generation, job.split.groups) == (generation, own.manifest.group + 1) && stored == Some(own)
}

/// `end_split` took: the job has not been written since. If it has been, by a worker that ended a group, then that
/// worker saw the end of the split too, and a refusal loses nothing.
pub fn split_ended(job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> bool {
    let same = job.split.groups == groups && job.issues == job.issues_with(issues) && job.times.updated_at == now;
    job.stage == Stage::Processing && same
}

/// `stop` took: the reason and the time are the caller's.
pub fn stopped(job: &Job, stop: &Stop) -> bool {
    job.stage == Stage::Stopping && job.stop.as_ref() == Some(stop)
}

/// `delete` took: the time is the caller's.
pub fn deleted(job: &Job, now: Timestamp) -> bool {
    job.times.deleted_at == Some(now)
}

/// `checkpoint` took: its token is the caller's.
pub fn checkpointed(job: &Job, request: &MoveCheckpoint) -> bool {
    job.generation == request.generation && job.completion.checkpoint.as_ref() == Some(&request.to)
}

/// `finish` took: the final status, its time and its report are the caller's.
pub fn finished(job: &Job, finish: &Finish) -> bool {
    let same_report = job.completion.report == finish.report;
    same_report
        && (job.generation, job.status, job.times.finished_at) == (finish.generation, finish.status, Some(finish.at))
}

/// `reopen` took: the next generation was opened at the caller's time, with the caller's corrected file or dead letters.
pub fn reopened(job: &Job, reopen: &Reopen) -> bool {
    let same_request = job.retry.corrected == reopen.corrected && job.retry.selected_chunks == reopen.selected_chunks;
    same_request
        && (job.generation, job.stage, job.times.updated_at) == (reopen.generation + 1, Stage::Queued, reopen.at)
}

/// What a job that was to be started from another came to, once that one refused: it was started by this very call
/// before, as another, or it is not startable any more.
pub fn started(from: Option<&Job>, own: JobId) -> Started {
    match from.filter(|from| !from.is_deleted()).and_then(|from| from.validation.started_as) {
        Some(before) if before == own => Started::New,
        Some(before) => Started::Before(before),
        None => Started::Refused,
    }
}

/// `count_resend` took: it was counted at the caller's time, and nothing has happened since.
pub fn resend_counted(job: &Job, seen: &Job, now: Timestamp) -> bool {
    job.generation == seen.generation && job.resends == seen.resends + 1 && job.times.updated_at == now
}

/// What an idempotency key that is taken means to a caller who wanted to make `own` under it: the request was accepted
/// before, by this very call or by another, or the key names another request.
pub fn key_taken<Id: PartialEq>(key: &IdempotencyKey, own: Id, stored_hash: &str, stored: Id) -> Created<Id> {
    if stored == own { Created::New } else { key_used(key, stored_hash, stored) }
}

/// The same for a caller who has not yet tried to make anything.
pub fn key_used<Id>(key: &IdempotencyKey, stored_hash: &str, stored: Id) -> Created<Id> {
    if stored_hash == key.request_hash { Created::Replayed(stored) } else { Created::KeyReused }
}
