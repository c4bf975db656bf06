//! Decisions as a table: a ledger and the time, then the push.

use std::collections::BTreeSet;

use longshore_domain::cursor::Cursor;
use longshore_domain::event::PendingEvent;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{JobTimes, Preparation, SplitState};
use longshore_domain::outcome::Counts;
use longshore_domain::tenant::TenantId;

use super::*;
use crate::overdue::QueueState;

pub(crate) const STALL_S: i64 = 60;

pub(crate) fn job(status: Status, stage: Stage) -> Job {
    Job {
        status,
        stage,
        split: SplitState {
            item_count: 10,
            groups: 1,
            sent_groups: 1,
            ended: stage == Stage::Processing,
            ..SplitState::default()
        },
        times: JobTimes { deadline_at: Timestamp(100_000_000), ..JobTimes::accepted(Timestamp(0)) },
        ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0))
    }
}

pub(crate) fn group(resends: u32, cursors: &[(u32, Cursor)]) -> Group {
    Group { resends, cursors: cursors.iter().cloned().collect(), ..Group::new(0, 10, 100, Timestamp(0)) }
}

pub(crate) fn cursor(finished: bool, due_s: Option<i64>) -> Cursor {
    let due = due_s.map(|s| Timestamp(s * 1000));
    Cursor { round: 1, position: 0, token: "t".into(), file: None, deferred: 0, due, finished, by_sweeper: false }
}

/// A round with a longer delay than a queue supports.
fn by_sweeper(due_s: i64) -> Cursor {
    Cursor { by_sweeper: true, ..cursor(false, Some(due_s)) }
}

static NONE: BTreeSet<ChunkId> = BTreeSet::new();

/// The queue is empty, or it is being processed and holds messages of the tenant.
pub(crate) fn at(now_s: i64, queue_idle: bool) -> Circumstances<'static> {
    let queue = if queue_idle { QueueState::Idle } else { QueueState::Busy { passed: None, quiet: false } };
    Circumstances {
        now: Timestamp(now_s * 1000),
        stall_s: STALL_S,
        queue,
        parked: &NONE,
        outage: None,
        is_paused: false,
    }
}

pub(crate) fn pushes(job: &Job, groups: &[Group], at: &Circumstances<'_>) -> Vec<Action> {
    decide(job, groups, |_| 2, at)
}

#[test]
fn a_waiting_job_is_pushed_with_doubling_waits() {
    let mut waiting = job(Status::Waiting, Stage::Queued);
    assert_eq!(pushes(&waiting, &[], &at(59, true)), []);
    assert_eq!(pushes(&waiting, &[], &at(60, true)), [Action::SendCreate]);
    waiting.resends = 1;
    assert_eq!(pushes(&waiting, &[], &at(119, true)), []);
    assert_eq!(pushes(&waiting, &[], &at(120, true)), [Action::SendCreate]);
}

#[test]
fn a_stalled_split_is_resumed_and_finally_fails() {
    let mut splitting = job(Status::Running, Stage::Splitting);
    assert_eq!(pushes(&splitting, &[], &at(60, true)), [Action::SendCreate]);
    splitting.resends = PUSHES;
    assert!(matches!(pushes(&splitting, &[], &at(60 << PUSHES, true))[..], [Action::Stop(_)]));
}

#[test]
fn a_job_that_waits_for_its_preparation_is_never_given_up_and_one_that_was_begun_is() {
    let mut splitting = job(Status::Running, Stage::Splitting);
    splitting.resends = PUSHES;
    for (read_bytes, is_given_up) in [(0, false), (1, true)] {
        splitting.preparation = Some(Preparation { read_bytes, size_bytes: 9 });
        let action = pushes(&splitting, &[], &at(60 << PUSHES, true));
        assert_eq!(matches!(action[..], [Action::Stop(_)]), is_given_up, "{action:?}");
    }
}

#[test]
fn chunks_without_progress_are_pushed_and_finally_given_up() {
    let running = job(Status::Running, Stage::Processing);
    let still = [group(0, &[(0, cursor(true, None))])];
    assert_eq!(pushes(&running, &still, &at(59, true)), []);
    assert_eq!(pushes(&running, &still, &at(60, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
    assert_eq!(pushes(&running, &still, &at(60, false)), [], "messages still wait in the queue");
    assert_eq!(
        pushes(&running, &[group(PUSHES, &[])], &at(60 << PUSHES, true)),
        [Action::GiveUp { group: 0, chunks: vec![0, 1] }]
    );
}

#[test]
fn parked_chunks_are_never_pushed_or_given_up() {
    let running = job(Status::Running, Stage::Processing);
    let parked = BTreeSet::from([ChunkId::default()]);
    let at = |now_s| Circumstances { parked: &parked, ..at(now_s, true) };
    assert_eq!(
        pushes(&running, &[group(0, &[])], &at(60)),
        [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }],
        "the other chunk is pushed"
    );
    let others_done = [group(PUSHES, &[(1, cursor(true, None))])];
    assert_eq!(pushes(&running, &others_done, &at(99_999)), []);
}

#[test]
fn a_round_that_is_due_later_than_a_queue_can_delay_is_sent_when_due() {
    let running = job(Status::Running, Stage::Processing);
    let waits = [group(0, &[(0, cursor(true, None)), (1, by_sweeper(7200))])];
    assert_eq!(pushes(&running, &waits, &at(7199, true)), []);
    assert_eq!(pushes(&running, &waits, &at(7200, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
}

/// The pushes were of the other chunk, whose deliveries fail. The message of this round has not been sent yet.
#[test]
fn a_round_that_was_not_sent_yet_is_not_given_up_with_its_group() {
    let running = job(Status::Running, Stage::Processing);
    let waits = |resends| [group(resends, &[(0, cursor(true, None)), (1, by_sweeper(7200))])];
    for seen in [PUSHES, PUSHES + 1] {
        let send = Action::SendChunks { group: 0, seen, chunks: vec![1] };
        assert_eq!(pushes(&running, &waits(seen), &at(7200, true)), [send]);
    }
}

#[test]
fn a_round_sent_by_its_worker_is_pushed_a_stall_time_after_it_is_due() {
    let running = job(Status::Running, Stage::Processing);
    let waits = [group(0, &[(0, cursor(true, None)), (1, cursor(false, Some(30)))])];
    assert_eq!(pushes(&running, &waits, &at(89, true)), []);
    assert_eq!(pushes(&running, &waits, &at(90, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
}

#[test]
fn a_done_group_is_marked_if_its_worker_has_not() {
    let running = job(Status::Running, Stage::Processing);
    let counts = Counts { succeeded: 10, ..Counts::default() };
    let done = [Group { counts, ..group(0, &[]) }];
    assert_eq!(pushes(&running, &done, &at(60, true)), [Action::RollUp { group: 0 }]);
}

#[test]
fn a_lost_completion_is_requested_again_and_finally_the_job_ends_without_a_report() {
    let mut done = Job {
        split: SplitState { done_groups: [0].into(), ..job(Status::Running, Stage::Processing).split },
        ..job(Status::Running, Stage::Processing)
    };
    assert_eq!(pushes(&done, &[], &at(60, true)), [Action::SendComplete]);
    done.resends = 2 * PUSHES;
    assert!(matches!(pushes(&done, &[], &at(60 << 6, true))[..], [Action::EndWithoutReport(_)]));
}

#[test]
fn a_stopped_job_without_a_report_ends_with_the_status_of_its_stop() {
    let stop = Stop::canceled(Timestamp(1));
    let stopping = Job { stop: Some(stop.clone()), resends: 2 * PUSHES, ..job(Status::Running, Stage::Stopping) };
    let late = at(60 << 6, true);
    let expected = Action::EndWithoutReport(Stop { at: late.now, ..stop });
    assert_eq!(pushes(&stopping, &[], &late), [expected]);
}

#[test]
fn a_stopping_job_is_completed() {
    let stopping = job(Status::Running, Stage::Stopping);
    assert_eq!(pushes(&stopping, &[], &at(60, true)), [Action::SendComplete]);
}

#[test]
fn a_job_past_its_deadline_is_stopped() {
    let late = Job {
        times: JobTimes { deadline_at: Timestamp(1), ..job(Status::Running, Stage::Processing).times },
        ..job(Status::Running, Stage::Processing)
    };
    assert!(matches!(pushes(&late, &[], &at(2, true))[..], [Action::Stop(_)]));
}

#[test]
fn an_ended_job_is_not_pushed() {
    for status in [Status::Completed, Status::Failed, Status::Canceled] {
        assert_eq!(pushes(&job(status, Stage::Done), &[group(0, &[])], &at(1_000_000, true)), []);
    }
}

#[test]
fn a_deleted_job_is_stopped_ended_and_then_removed() {
    let deleted = |status, stage| Job {
        times: JobTimes { deleted_at: Some(Timestamp(0)), ..job(status, stage).times.clone() },
        ..job(status, stage)
    };
    for (status, stage) in [(Status::Waiting, Stage::Queued), (Status::Running, Stage::Processing)] {
        let pushed = pushes(&deleted(status, stage), &[], &at(0, true));
        assert!(matches!(&pushed[..], [Action::Stop(stop)] if stop.status == Status::Canceled), "{pushed:?}");
    }
    let stopping = deleted(Status::Running, Stage::Stopping);
    assert_eq!(pushes(&stopping, &[], &at(60, true)), [Action::SendComplete]);
    for status in [Status::Completed, Status::Failed, Status::Canceled] {
        let ended = Job {
            times: JobTimes { finished_at: Some(Timestamp(10_000)), ..deleted(status, Stage::Done).times },
            ..deleted(status, Stage::Done)
        };
        assert_eq!(pushes(&ended, &[], &at(69, true)), [], "a function may still be writing a file");
        assert_eq!(pushes(&ended, &[], &at(70, true)), [Action::Remove]);
    }
}

#[test]
fn pending_events_are_moved_whatever_else_the_job_needs_and_before_it_is_removed() {
    let pending = || [PendingEvent::started(0, Timestamp(0))].into();
    let waiting = Job { pending_events: pending(), ..job(Status::Waiting, Stage::Queued) };
    assert_eq!(pushes(&waiting, &[], &at(60, true)), [Action::SendCreate, Action::MoveEvents]);
    let ended = Job { pending_events: pending(), ..job(Status::Completed, Stage::Done) };
    assert_eq!(pushes(&ended, &[], &at(0, true)), [Action::MoveEvents]);
    let deleted = Job { times: JobTimes { deleted_at: Some(Timestamp(0)), ..ended.times.clone() }, ..ended };
    assert_eq!(pushes(&deleted, &[], &at(10_000, true)), [Action::MoveEvents]);
    let moved = Job { pending_events: [].into(), ..deleted };
    assert_eq!(pushes(&moved, &[], &at(10_000, true)), [Action::Remove]);
}

#[test]
fn an_outage_of_a_minute_is_told_once() {
    let running = job(Status::Running, Stage::Processing);
    let recorded = |job: &Job, now_s, since_s: i64| {
        let at = Circumstances { outage: Some(Timestamp(since_s * 1000)), ..at(now_s, false) };
        pushes(job, &[], &at).contains(&Action::RecordOutage { since: Timestamp(since_s * 1000) })
    };
    assert!(!recorded(&running, 159, 100) && recorded(&running, 160, 100));
    let known = Job { recorded_outage: Some(Timestamp(100_000)), ..running.clone() };
    assert!(!recorded(&known, 160, 100) && recorded(&known, 260, 200));
    assert!(!recorded(&job(Status::Waiting, Stage::Queued), 160, 100), "it waits for its start");
    assert!(!recorded(&job(Status::Running, Stage::Stopping), 160, 100), "it waits for nothing");
}

/// The group's own time does not show when this chunk's round was deferred: other chunks move it.
#[test]
fn a_round_is_sent_when_due_regardless_of_the_progress_of_its_group() {
    let running = job(Status::Running, Stage::Processing);
    let moved =
        Group { progressed_at: Timestamp(7_000_000), ..group(0, &[(0, cursor(true, None)), (1, by_sweeper(7200))]) };
    assert_eq!(
        pushes(&running, &[moved], &at(7200, true)),
        [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]
    );
}

#[test]
fn a_round_sent_by_the_sweeper_is_pushed_again_after_the_doubled_wait() {
    let running = job(Status::Running, Stage::Processing);
    let waits = || group(0, &[(0, cursor(true, None)), (1, by_sweeper(7200))]);
    let sent = [Group { resends: 1, sent_at: Timestamp(7_201_000), ..waits() }];
    assert_eq!(pushes(&running, &sent, &at(7_320, true)), []);
    let again = [Action::SendChunks { group: 0, seen: 1, chunks: vec![1] }];
    assert_eq!(pushes(&running, &sent, &at(7_321, true)), again);
    // Another chunk of its group was pushed before it was due.
    let before = [Group { resends: 1, sent_at: Timestamp(7_000_000), ..waits() }];
    assert_eq!(pushes(&running, &before, &at(7_200, true)), again);
}
