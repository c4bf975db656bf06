//! Decisions as a table: a ledger and the time, then the push.

use longshore_domain::cursor::Cursor;
use longshore_domain::ids::JobId;
use longshore_domain::outcome::Counts;

use super::*;

const STALL_S: i64 = 60;

fn job(status: Status, stage: Stage) -> Job {
    Job {
        status,
        stage,
        item_count: 10,
        groups: 1,
        sent_groups: 1,
        split_ended: stage == Stage::Processing,
        deadline_at: Timestamp(100_000_000),
        ..Job::waiting(JobId::generate(), "t", "import", Timestamp(0))
    }
}

fn group(resends: u32, cursors: &[(u32, Cursor)]) -> Group {
    Group { resends, cursors: cursors.iter().cloned().collect(), ..Group::new(0, 10, 100, Timestamp(0)) }
}

fn cursor(finished: bool, due_s: Option<i64>) -> Cursor {
    let due = due_s.map(|s| Timestamp(s * 1000));
    Cursor { round: 1, position: 0, token: "t".into(), file: None, filed: 0, due, finished }
}

static NONE: BTreeSet<(u32, u32)> = BTreeSet::new();

fn at(now_s: i64, queue_idle: bool) -> Circumstances<'static> {
    Circumstances { now: Timestamp(now_s * 1000), stall_s: STALL_S, queue_idle, waiting: &NONE }
}

fn pushes(job: &Job, groups: &[Group], at: &Circumstances<'_>) -> Vec<Action> {
    decide(job, groups, |_| 2, at)
}

#[test]
fn a_job_that_waits_is_sent_again_with_doubling_patience() {
    let mut waiting = job(Status::Waiting, Stage::Queued);
    assert_eq!(pushes(&waiting, &[], &at(59, true)), []);
    assert_eq!(pushes(&waiting, &[], &at(60, true)), [Action::SendCreate]);
    waiting.resends = 1;
    assert_eq!(pushes(&waiting, &[], &at(119, true)), []);
    assert_eq!(pushes(&waiting, &[], &at(120, true)), [Action::SendCreate]);
}

#[test]
fn a_split_that_stalls_is_resumed_and_in_the_end_failed() {
    let mut splitting = job(Status::Running, Stage::Splitting);
    assert_eq!(pushes(&splitting, &[], &at(60, true)), [Action::SendCreate]);
    splitting.resends = PUSHES;
    assert!(matches!(pushes(&splitting, &[], &at(480, true))[..], [Action::Stop(_)]));
}

#[test]
fn chunks_without_progress_are_sent_again_and_in_the_end_given_up() {
    let running = job(Status::Running, Stage::Processing);
    let still = [group(0, &[(0, cursor(true, None))])];
    assert_eq!(pushes(&running, &still, &at(59, true)), []);
    assert_eq!(pushes(&running, &still, &at(60, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
    assert_eq!(pushes(&running, &still, &at(60, false)), [], "messages still wait in the queue");
    assert_eq!(
        pushes(&running, &[group(PUSHES, &[])], &at(480, true)),
        [Action::GiveUp { group: 0, chunks: vec![0, 1] }]
    );
}

#[test]
fn chunks_that_wait_at_their_gate_are_never_pushed_or_given_up() {
    let running = job(Status::Running, Stage::Processing);
    let waiting = BTreeSet::from([(0, 0)]);
    let at = |now_s| Circumstances { waiting: &waiting, ..at(now_s, true) };
    assert_eq!(
        pushes(&running, &[group(0, &[])], &at(60)),
        [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }],
        "the other one is still"
    );
    let others_done = [group(PUSHES, &[(1, cursor(true, None))])];
    assert_eq!(pushes(&running, &others_done, &at(99_999)), []);
}

#[test]
fn a_round_later_than_a_queue_can_delay_is_sent_when_it_is_due() {
    let running = job(Status::Running, Stage::Processing);
    let waits = [group(0, &[(0, cursor(true, None)), (1, cursor(false, Some(7200)))])];
    assert_eq!(pushes(&running, &waits, &at(7199, true)), []);
    assert_eq!(pushes(&running, &waits, &at(7200, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
}

#[test]
fn a_round_that_its_worker_sent_is_given_its_time() {
    let running = job(Status::Running, Stage::Processing);
    let waits = [group(0, &[(0, cursor(true, None)), (1, cursor(false, Some(30)))])];
    assert_eq!(pushes(&running, &waits, &at(89, true)), []);
    assert_eq!(pushes(&running, &waits, &at(90, true)), [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }]);
}

#[test]
fn a_done_group_that_nobody_rolled_up_is_rolled_up() {
    let running = job(Status::Running, Stage::Processing);
    let counts = Counts { succeeded: 10, ..Counts::default() };
    let done = [Group { counts, ..group(0, &[]) }];
    assert_eq!(pushes(&running, &done, &at(60, true)), [Action::RollUp { group: 0 }]);
}

#[test]
fn a_job_whose_completion_was_lost_is_completed_and_in_the_end_ended_without_a_report() {
    let mut done = Job { done_groups: [0].into(), ..job(Status::Running, Stage::Processing) };
    assert_eq!(pushes(&done, &[], &at(60, true)), [Action::SendComplete]);
    done.resends = 2 * PUSHES;
    assert!(matches!(pushes(&done, &[], &at(60 << 6, true))[..], [Action::EndWithoutReport(_)]));
}

#[test]
fn a_stopped_job_whose_completion_is_given_up_ends_as_it_was_told_to() {
    let stop = Stop::canceled(Timestamp(1));
    let stopping = Job { stop: Some(stop.clone()), resends: 2 * PUSHES, ..job(Status::Running, Stage::Stopping) };
    let late = at(60 << 6, true);
    let expected = Action::EndWithoutReport(Stop { at: late.now, ..stop });
    assert_eq!(pushes(&stopping, &[], &late), [expected]);
}

#[test]
fn a_job_that_is_stopping_is_completed() {
    let stopping = job(Status::Running, Stage::Stopping);
    assert_eq!(pushes(&stopping, &[], &at(60, true)), [Action::SendComplete]);
}

#[test]
fn a_job_past_its_deadline_is_stopped() {
    let late = Job { deadline_at: Timestamp(1), ..job(Status::Running, Stage::Processing) };
    assert!(matches!(pushes(&late, &[], &at(2, true))[..], [Action::Stop(_)]));
}

#[test]
fn a_job_that_has_ended_is_left_alone() {
    for status in [Status::Completed, Status::Failed, Status::Canceled] {
        assert_eq!(pushes(&job(status, Stage::Done), &[group(0, &[])], &at(1_000_000, true)), []);
    }
}

#[test]
fn a_deleted_job_is_stopped_ended_and_then_removed() {
    let deleted = |status, stage| Job { deleted_at: Some(Timestamp(0)), ..job(status, stage) };
    for (status, stage) in [(Status::Waiting, Stage::Queued), (Status::Running, Stage::Processing)] {
        let pushed = pushes(&deleted(status, stage), &[], &at(0, true));
        assert!(matches!(&pushed[..], [Action::Stop(stop)] if stop.status == Status::Canceled), "{pushed:?}");
    }
    let stopping = deleted(Status::Running, Stage::Stopping);
    assert_eq!(pushes(&stopping, &[], &at(60, true)), [Action::SendComplete]);
    for status in [Status::Completed, Status::Failed, Status::Canceled] {
        let ended = Job { finished_at: Some(Timestamp(10_000)), ..deleted(status, Stage::Done) };
        assert_eq!(pushes(&ended, &[], &at(69, true)), [], "whoever saw it alive may still write");
        assert_eq!(pushes(&ended, &[], &at(70, true)), [Action::Remove]);
    }
}
