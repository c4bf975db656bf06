//! Distinguishes a caller's own earlier write from another's, when a condition refuses a repeated call.
//!
//! The SDK repeats a call whose response was lost. If the first attempt was applied, the second one finds that its
//! condition no longer holds. So each refusal is followed by a check of the stored state: if it is what this call
//! would have written, the result is `Made`. Two callers with the same arguments in the same millisecond both get
//! `Made`: that is harmless, because the write happened once and its follow-up may happen twice.

use longshore_domain::group::Manifest;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, JobError, MoveCheckpoint, Preparation, Reopen, SourceFile, Stage, Stop};
use longshore_domain::ports::{Created, IdempotencyKey, Started, UndoCreated};
use longshore_domain::timestamp::Timestamp;

/// `enqueue` at `now` was applied, and nothing has happened since.
pub fn enqueued(job: &Job, now: Timestamp) -> bool {
    !job.is_scheduled && (job.stage, job.times.updated_at) == (Stage::Queued, now)
}

/// `begin` at `now` was applied: generation and start time are the caller's.
pub fn began(job: &Job, generation: u32, now: Timestamp) -> bool {
    (job.generation, job.times.started_at) == (generation, Some(now))
}

/// `record_outage` was applied: an event of this generation tells of the outage, or has told of it.
pub fn recorded_outage(job: &Job, generation: u32, since: Timestamp) -> bool {
    (job.generation, job.recorded_outage) == (generation, Some(since))
}

/// `record_preparation` was applied, and nothing has happened since.
pub fn preparation_recorded(job: &Job, generation: u32, preparation: Preparation, now: Timestamp) -> bool {
    (job.generation, job.preparation, job.times.updated_at) == (generation, Some(preparation), now)
}

/// `end_preparation` was applied: the file is the caller's. Its key is unique.
pub fn preparation_ended(job: &Job, generation: u32, prepared: &SourceFile) -> bool {
    let is_own = |file: Option<&SourceFile>| file.is_some_and(|file| file.key == prepared.key);
    job.generation == generation && (is_own(job.file()) || is_own(job.retry.selection.corrected()))
}

/// A group as a store keeps it for this check: its manifest and the time of its commit.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct CommittedGroup {
    /// The plan.
    pub manifest: Manifest,
    /// The splitter's time.
    pub at: Timestamp,
}

/// `commit_group` was applied, and the job, which was read after it, is as that call left it: the group is the last
/// one, of the caller's generation, with the caller's chunks at the caller's time. If another group or another
/// generation has followed, another splitter is working, and the caller's position is out of date.
pub fn committed(job: &Job, generation: u32, stored: Option<&CommittedGroup>, own: &CommittedGroup) -> bool {
    (job.generation, job.split.groups) == (generation, own.manifest.group + 1) && stored == Some(own)
}

/// `end_split` was applied: the job has not been written since. If a worker that ended a group has written it, that
/// worker saw the end of the split too, and a refusal loses nothing.
pub fn split_ended(job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> bool {
    let same = job.split.groups == groups && job.issues == job.issues_with(issues) && job.times.updated_at == now;
    job.stage == Stage::Processing && same
}

/// `stop` was applied: the reason and the time are the caller's.
pub fn stopped(job: &Job, stop: &Stop) -> bool {
    job.stage == Stage::Stopping && job.stop.as_ref() == Some(stop)
}

/// `delete` was applied: the time is the caller's.
pub fn deleted(job: &Job, now: Timestamp) -> bool {
    job.times.deleted_at == Some(now)
}

/// `checkpoint` was applied: its token is the caller's.
pub fn checkpointed(job: &Job, request: &MoveCheckpoint) -> bool {
    job.generation == request.generation && job.completion.checkpoint.as_ref() == Some(&request.to)
}

/// `finish` was applied: the final status, its time and its report are the caller's.
pub fn finished(job: &Job, finish: &Finish) -> bool {
    let same_report = job.completion.report == finish.report;
    same_report
        && (job.generation, job.status, job.times.finished_at) == (finish.generation, finish.status, Some(finish.at))
}

/// `reopen` was applied: the next generation was opened at the caller's time, with the caller's selection.
pub fn reopened(job: &Job, reopen: &Reopen) -> bool {
    job.retry.selection == reopen.selection
        && (job.generation, job.stage, job.times.updated_at) == (reopen.generation + 1, Stage::Queued, reopen.at)
}

/// Resolves a refused start of a job from another one: our own earlier write, another caller's job, or not startable
/// any more.
pub fn started(from: Option<&Job>, own: JobId) -> Started {
    match from.filter(|from| !from.is_deleted()).and_then(|from| from.validation.started_as) {
        Some(before) if before == own => Started::New,
        Some(before) => Started::Before(before),
        None => Started::Refused,
    }
}

/// Resolves a refused creation of an undo: our own earlier write, or refused.
pub fn undone(import: Option<&Job>, own: JobId) -> UndoCreated {
    match import.and_then(|import| import.undo.undone_by) {
        Some(by) if by == own => UndoCreated::New,
        _ => UndoCreated::Refused,
    }
}

/// `count_resend` was applied: it was counted at the caller's time, and nothing has happened since.
pub fn resend_counted(job: &Job, read: &Job, now: Timestamp) -> bool {
    job.generation == read.generation && job.resends == read.resends + 1 && job.times.updated_at == now
}

/// Returns the result of a used idempotency key for a caller that wanted to create `own` under it: the request was
/// accepted before, from this same call or another one, or the key belongs to another request.
pub fn key_taken<Id: PartialEq>(key: &IdempotencyKey, own: Id, stored_hash: &str, stored: Id) -> Created<Id> {
    if stored == own { Created::New } else { key_used(key, stored_hash, stored) }
}

/// Returns the same for a caller that has not yet tried to create anything.
pub fn key_used<Id>(key: &IdempotencyKey, stored_hash: &str, stored: Id) -> Created<Id> {
    if stored_hash == key.request_hash { Created::Replayed(stored) } else { Created::KeyReused }
}
