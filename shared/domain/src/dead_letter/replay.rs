//! Dead-letter replay (redrive, re-send or reopen): the pure decision on its effect.
//!
//! While the job runs, a replay of a chunk or a split has to wait: the sweep that recorded the dead letter is about to
//! account for it, and sending the message again in between would lose message and rows. After the job's end, the
//! replay is a retry limited to the items that were given up with the dead letter. For a completion, the complete
//! message is sent again. The decision can be repeated after a crash: the job stores the chunks for which its
//! generation was opened.

use super::DeadLetterMessage;
use crate::cursor::Cursor;
use crate::ids::ChunkId;
use crate::job::{Job, Status, has_time};
use crate::message::{ChunkMessage, CompleteMessage, CreateMessage};
use crate::timestamp::Timestamp;

/// The effect that a replay would have now.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ReplayDecision {
    /// Redrive the body to its source queue: the message is unreadable.
    RedriveToSource,
    /// Send the message again.
    SendAgain,
    /// Reopen the job as its next generation.
    Open,
    /// Do nothing more: the job has already been reopened for this dead letter.
    Done,
    /// Do nothing before the job's end: its items have been or will be counted as failed.
    Wait,
    /// Do nothing, for a permanent reason.
    NoEffect(NoEffect),
}

/// The reason for which a replay has no effect.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum NoEffect {
    /// The job was deleted, or expires within the hour, too soon to run again.
    JobGone,
    /// The job was canceled by its client.
    Canceled,
    /// A later generation has run the work again.
    AlreadyRetried,
    /// The work was done despite the dead letter.
    AlreadyDone,
    /// The job is an undo, or an import that is or was undone.
    Undone,
}

/// Decides the effect of a replay, from the stored job and, for a chunk message, the chunk's cursor.
pub fn decide_replay(
    dead_letter: &DeadLetterMessage,
    job: Option<&Job>,
    cursor: Option<&Cursor>,
    now: Timestamp,
) -> ReplayDecision {
    if matches!(dead_letter, DeadLetterMessage::Unreadable { .. }) {
        return ReplayDecision::RedriveToSource;
    }
    let Some(job) = job.filter(|job| !job.is_deleted() && has_time(now, job.times.expires_at)) else {
        return ReplayDecision::NoEffect(NoEffect::JobGone);
    };
    match dead_letter {
        DeadLetterMessage::Create(message) => create(message, job),
        DeadLetterMessage::Chunk(message) => chunk(message, job, cursor),
        DeadLetterMessage::Complete(message) => complete(message, job),
        DeadLetterMessage::Unreadable { .. } => ReplayDecision::RedriveToSource,
    }
}

fn create(message: &CreateMessage, job: &Job) -> ReplayDecision {
    if message.generation != job.generation {
        return ReplayDecision::NoEffect(NoEffect::AlreadyRetried);
    }
    if job.split.ended {
        return ReplayDecision::NoEffect(NoEffect::AlreadyDone);
    }
    once_ended(job)
}

fn chunk(message: &ChunkMessage, job: &Job, cursor: Option<&Cursor>) -> ReplayDecision {
    let id = ChunkId { group: message.group, chunk: message.chunk };
    if job.retry.selection.chunks().is_some_and(|chunks| chunks.contains(&id)) {
        return ReplayDecision::Done;
    }
    if message.group < job.retry.carried_over.retried_groups {
        return ReplayDecision::NoEffect(NoEffect::AlreadyRetried);
    }
    if cursor.is_some_and(Cursor::has_nothing_left) {
        return ReplayDecision::NoEffect(NoEffect::AlreadyDone);
    }
    once_ended(job)
}

fn complete(message: &CompleteMessage, job: &Job) -> ReplayDecision {
    if message.generation != job.generation {
        return ReplayDecision::NoEffect(NoEffect::AlreadyRetried);
    }
    if job.status.is_final() { ReplayDecision::NoEffect(NoEffect::AlreadyDone) } else { ReplayDecision::SendAgain }
}

/// Decides for a dead letter whose work can only run in a later generation.
fn once_ended(job: &Job) -> ReplayDecision {
    match job.status {
        Status::Waiting | Status::Running => ReplayDecision::Wait,
        Status::Canceled => ReplayDecision::NoEffect(NoEffect::Canceled),
        Status::Completed | Status::Failed if job.is_reopenable() => ReplayDecision::Open,
        Status::Completed | Status::Failed if job.has_remaining() => ReplayDecision::NoEffect(NoEffect::Undone),
        Status::Completed | Status::Failed => ReplayDecision::NoEffect(NoEffect::AlreadyDone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::ChunkPlan;
    use crate::ids::JobId;
    use crate::job::{CarriedOver, CompletionState, JobTimes, RetryState, Selection, SplitState, Stage};
    use crate::outcome::Counts;
    use crate::tenant::TenantId;

    fn job(status: Status) -> Job {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        let totals = status.is_final().then_some(Counts { succeeded: 7, failed: 3, skipped: 0 });
        let stage = if status.is_final() { Stage::Done } else { Stage::Processing };
        Job {
            status,
            stage,
            generation: 1,
            split: SplitState { item_count: 10, groups: 4, ended: true, ..job.split.clone() },
            completion: CompletionState { totals, ..job.completion.clone() },
            ..job
        }
    }

    fn cursor(finished: bool, file: Option<&str>) -> Cursor {
        let file = file.map(str::to_owned);
        Cursor { round: 0, position: 0, token: "t1".into(), file, deferred: 0, due: None, finished, by_sweeper: false }
    }

    fn of_chunk(group: u32, job: &Job, cursor: Option<&Cursor>) -> ReplayDecision {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
        decide_replay(
            &DeadLetterMessage::Chunk(ChunkMessage::new(job, ChunkId::new(group, 5), &plan)),
            Some(job),
            cursor,
            Timestamp(0),
        )
    }

    #[test]
    fn a_chunk_waits_for_the_end_of_its_job_and_then_opens_a_generation() {
        let (open, given_up, done) = (cursor(false, None), cursor(true, Some("f")), cursor(true, None));
        let stopping = Job { stage: Stage::Stopping, ..job(Status::Running) };
        let (past, wait) = (ReplayDecision::NoEffect(NoEffect::AlreadyDone), ReplayDecision::Wait);
        for (what, job, cursor, expected) in [
            ("not started", job(Status::Running), None, wait),
            ("half-way", job(Status::Running), Some(&open), wait),
            ("given up while the job runs", job(Status::Running), Some(&given_up), wait),
            ("the job is stopping", stopping, Some(&open), wait),
            ("all of its items succeeded", job(Status::Running), Some(&done), past),
            ("given up, and the job completed", job(Status::Completed), Some(&given_up), ReplayDecision::Open),
            ("not started, and the job failed", job(Status::Failed), None, ReplayDecision::Open),
            (
                "canceled by the client",
                job(Status::Canceled),
                Some(&given_up),
                ReplayDecision::NoEffect(NoEffect::Canceled),
            ),
            (
                "no item remains",
                Job {
                    completion: CompletionState {
                        totals: Some(Counts { succeeded: 10, ..Counts::default() }),
                        ..job(Status::Completed).completion
                    },
                    ..job(Status::Completed)
                },
                Some(&given_up),
                past,
            ),
        ] {
            assert_eq!(of_chunk(3, &job, cursor), expected, "{what}");
        }
    }

    #[test]
    fn a_chunk_of_an_earlier_generation_is_replayed_unless_it_was_retried() {
        let given_up = cursor(true, Some("f"));
        let carried_over = |retried_groups| CarriedOver { groups: 4, retried_groups, ..CarriedOver::default() };
        let selection = Selection::Chunks([ChunkId { group: 3, chunk: 5 }].into());
        for (what, job, expected) in [
            (
                "its group was not retried",
                Job {
                    retry: RetryState { carried_over: carried_over(3), ..job(Status::Completed).retry },
                    ..job(Status::Completed)
                },
                ReplayDecision::Open,
            ),
            (
                "its group was retried",
                Job {
                    retry: RetryState { carried_over: carried_over(4), ..job(Status::Completed).retry },
                    ..job(Status::Completed)
                },
                ReplayDecision::NoEffect(NoEffect::AlreadyRetried),
            ),
            (
                "a later generation runs",
                Job {
                    retry: RetryState { carried_over: carried_over(3), ..job(Status::Running).retry },
                    ..job(Status::Running)
                },
                ReplayDecision::Wait,
            ),
            (
                "the generation was opened for it",
                Job {
                    retry: RetryState { carried_over: carried_over(3), selection, ..job(Status::Running).retry },
                    ..job(Status::Running)
                },
                ReplayDecision::Done,
            ),
        ] {
            assert_eq!(of_chunk(3, &job, Some(&given_up)), expected, "{what}");
        }
    }

    #[test]
    fn control_messages_are_for_their_own_generation_only() {
        let create = |generation| {
            DeadLetterMessage::Create(CreateMessage { generation, ..CreateMessage::of_job(JobId(uuid::Uuid::nil())) })
        };
        let complete = |generation| {
            DeadLetterMessage::Complete(CompleteMessage {
                job_id: JobId(uuid::Uuid::nil()),
                generation,
                resend: 0,
                step: 0,
                tenant: None,
                failures: 0,
            })
        };
        let splitting = |status| Job { split: SplitState { ended: false, ..job(status).split.clone() }, ..job(status) };
        let undone = |mut job: Job| {
            job.undo.undone_by = Some(JobId(uuid::Uuid::nil()));
            job
        };
        let (past, done) =
            (ReplayDecision::NoEffect(NoEffect::AlreadyRetried), ReplayDecision::NoEffect(NoEffect::AlreadyDone));
        for (dead_letter, job, expected) in [
            (create(1), splitting(Status::Waiting), ReplayDecision::Wait),
            (create(1), splitting(Status::Failed), ReplayDecision::Open),
            (create(1), splitting(Status::Canceled), ReplayDecision::NoEffect(NoEffect::Canceled)),
            (create(1), undone(splitting(Status::Failed)), ReplayDecision::NoEffect(NoEffect::Undone)),
            (create(1), job(Status::Failed), done),
            (create(0), splitting(Status::Failed), past),
            (complete(1), job(Status::Running), ReplayDecision::SendAgain),
            (complete(1), job(Status::Failed), done),
            (complete(0), job(Status::Running), past),
        ] {
            assert_eq!(
                decide_replay(&dead_letter, Some(&job), None, Timestamp(0)),
                expected,
                "{dead_letter:?} {:?}",
                job.status
            );
        }
    }

    #[test]
    fn a_removed_job_has_nothing_to_replay_and_unreadable_messages_are_redriven() {
        let gone = ReplayDecision::NoEffect(NoEffect::JobGone);
        let dead_letter = DeadLetterMessage::Complete(CompleteMessage {
            job_id: JobId(uuid::Uuid::nil()),
            generation: 1,
            resend: 0,
            step: 0,
            tenant: None,
            failures: 0,
        });
        let deleted = Job {
            times: JobTimes { deleted_at: Some(Timestamp(1)), ..job(Status::Running).times },
            ..job(Status::Running)
        };
        let expired = Job { times: JobTimes { expires_at: 9, ..job(Status::Running).times }, ..job(Status::Running) };
        for job in [None, Some(&deleted), Some(&expired)] {
            assert_eq!(decide_replay(&dead_letter, job, None, Timestamp(9_000)), gone);
        }
        let unreadable = DeadLetterMessage::Unreadable { reason: "it is not JSON".into() };
        assert_eq!(decide_replay(&unreadable, None, None, Timestamp(0)), ReplayDecision::RedriveToSource);
    }
}
