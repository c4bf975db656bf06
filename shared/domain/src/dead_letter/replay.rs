//! Replay of a dead letter (redrive, re-send or reopen): the pure decision on its effect.
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
use crate::time_stamp::Timestamp;

/// The effect that a replay would have now.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Replay {
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
    Nothing(Nothing),
}

/// The reason for which a replay has no effect.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Nothing {
    /// The job was deleted, or expires within the hour, too soon to run again.
    JobGone,
    /// The job was canceled by its client.
    Canceled,
    /// A later generation has run the work again.
    RunAgain,
    /// The work was done despite the dead letter.
    WasDone,
}

/// Decides the effect of a replay, from the stored job and, for a chunk message, the chunk's cursor.
pub fn replay(dead_letter: &DeadLetterMessage, job: Option<&Job>, cursor: Option<&Cursor>, now: Timestamp) -> Replay {
    if matches!(dead_letter, DeadLetterMessage::Unreadable { .. }) {
        return Replay::RedriveToSource;
    }
    let Some(job) = job.filter(|job| !job.is_deleted() && has_time(now, job.times.expires_at)) else {
        return Replay::Nothing(Nothing::JobGone);
    };
    match dead_letter {
        DeadLetterMessage::Create(message) => create(message, job),
        DeadLetterMessage::Chunk(message) => chunk(message, job, cursor),
        DeadLetterMessage::Complete(message) => complete(message, job),
        DeadLetterMessage::Unreadable { .. } => Replay::RedriveToSource,
    }
}

fn create(message: &CreateMessage, job: &Job) -> Replay {
    if message.generation != job.generation {
        return Replay::Nothing(Nothing::RunAgain);
    }
    if job.split.ended {
        return Replay::Nothing(Nothing::WasDone);
    }
    after_the_end(job)
}

fn chunk(message: &ChunkMessage, job: &Job, cursor: Option<&Cursor>) -> Replay {
    let place = ChunkId { group: message.group, chunk: message.chunk };
    if job.retry.selected_chunks.as_ref().is_some_and(|selected_chunks| selected_chunks.contains(&place)) {
        return Replay::Done;
    }
    if message.group < job.retry.carried_over.retried_groups {
        return Replay::Nothing(Nothing::RunAgain);
    }
    let finished = cursor.filter(|cursor| cursor.finished);
    if finished.is_some_and(|cursor| cursor.file.is_none()) {
        return Replay::Nothing(Nothing::WasDone);
    }
    after_the_end(job)
}

fn complete(message: &CompleteMessage, job: &Job) -> Replay {
    if message.generation != job.generation {
        return Replay::Nothing(Nothing::RunAgain);
    }
    if job.status.is_final() { Replay::Nothing(Nothing::WasDone) } else { Replay::SendAgain }
}

/// Decides for a dead letter whose work can only run in a later generation.
fn after_the_end(job: &Job) -> Replay {
    match job.status {
        Status::Waiting | Status::Running => Replay::Wait,
        Status::Canceled => Replay::Nothing(Nothing::Canceled),
        Status::Completed | Status::Failed if job.has_remaining() => Replay::Open,
        Status::Completed | Status::Failed => Replay::Nothing(Nothing::WasDone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::ChunkPlan;
    use crate::ids::JobId;
    use crate::job::{CarriedOver, CompletionState, JobTimes, RetryState, SplitState, Stage};
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

    fn of_chunk(group: u32, job: &Job, cursor: Option<&Cursor>) -> Replay {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
        replay(
            &DeadLetterMessage::Chunk(ChunkMessage::new(job, ChunkId::new(group, 5), &plan)),
            Some(job),
            cursor,
            Timestamp(0),
        )
    }

    #[test]
    fn a_chunk_waits_for_its_jobs_end_and_is_a_generation_then() {
        let (open, given_up, done) = (cursor(false, None), cursor(true, Some("f")), cursor(true, None));
        let stopping = Job { stage: Stage::Stopping, ..job(Status::Running) };
        let (past, wait) = (Replay::Nothing(Nothing::WasDone), Replay::Wait);
        for (what, job, cursor, expected) in [
            ("nobody began it", job(Status::Running), None, wait),
            ("half-way", job(Status::Running), Some(&open), wait),
            ("given up while the job runs", job(Status::Running), Some(&given_up), wait),
            ("the job stops", stopping, Some(&open), wait),
            ("every item of it succeeded", job(Status::Running), Some(&done), past),
            ("given up, and the job completed", job(Status::Completed), Some(&given_up), Replay::Open),
            ("never come to, and the job failed", job(Status::Failed), None, Replay::Open),
            ("its client does not want it", job(Status::Canceled), Some(&given_up), Replay::Nothing(Nothing::Canceled)),
            (
                "nothing is left",
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
    fn of_an_older_generation_a_chunk_is_replayed_unless_it_was_offered_again() {
        let given_up = cursor(true, Some("f"));
        let carried_over = |retried_groups| CarriedOver { groups: 4, retried_groups, ..CarriedOver::default() };
        let selected_chunks = Some([ChunkId { group: 3, chunk: 5 }].into());
        for (what, job, expected) in [
            (
                "it was left out",
                Job {
                    retry: RetryState { carried_over: carried_over(3), ..job(Status::Completed).retry },
                    ..job(Status::Completed)
                },
                Replay::Open,
            ),
            (
                "all was offered",
                Job {
                    retry: RetryState { carried_over: carried_over(4), ..job(Status::Completed).retry },
                    ..job(Status::Completed)
                },
                Replay::Nothing(Nothing::RunAgain),
            ),
            (
                "a later one runs",
                Job {
                    retry: RetryState { carried_over: carried_over(3), ..job(Status::Running).retry },
                    ..job(Status::Running)
                },
                Replay::Wait,
            ),
            (
                "that is for it",
                Job {
                    retry: RetryState { carried_over: carried_over(3), selected_chunks, ..job(Status::Running).retry },
                    ..job(Status::Running)
                },
                Replay::Done,
            ),
        ] {
            assert_eq!(of_chunk(3, &job, Some(&given_up)), expected, "{what}");
        }
    }

    #[test]
    fn control_messages_are_for_their_own_generation_only() {
        let create = |generation| {
            DeadLetterMessage::Create(CreateMessage {
                tenant: None,
                job_id: JobId(uuid::Uuid::nil()),
                generation,
                position: 0,
                resend: 0,
                failures: 0,
            })
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
        let (past, done) = (Replay::Nothing(Nothing::RunAgain), Replay::Nothing(Nothing::WasDone));
        for (dead_letter, job, expected) in [
            (create(1), splitting(Status::Waiting), Replay::Wait),
            (create(1), splitting(Status::Failed), Replay::Open),
            (create(1), splitting(Status::Canceled), Replay::Nothing(Nothing::Canceled)),
            (create(1), job(Status::Failed), done),
            (create(0), splitting(Status::Failed), past),
            (complete(1), job(Status::Running), Replay::SendAgain),
            (complete(1), job(Status::Failed), done),
            (complete(0), job(Status::Running), past),
        ] {
            assert_eq!(
                replay(&dead_letter, Some(&job), None, Timestamp(0)),
                expected,
                "{dead_letter:?} {:?}",
                job.status
            );
        }
    }

    #[test]
    fn a_job_that_is_gone_leaves_nothing_to_replay_and_what_is_unreadable_is_put_back() {
        let gone = Replay::Nothing(Nothing::JobGone);
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
            assert_eq!(replay(&dead_letter, job, None, Timestamp(9_000)), gone);
        }
        let unreadable = DeadLetterMessage::Unreadable { reason: "no JSON".into() };
        assert_eq!(replay(&unreadable, None, None, Timestamp(0)), Replay::RedriveToSource);
    }
}
