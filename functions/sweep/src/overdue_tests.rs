//! Chunks in an idle, busy or quiet queue, and the pushes that they get.

use longshore_domain::job::{Job, SplitState, Stage, Status};
use longshore_domain::outcome::Counts;

use super::*;
use crate::decide::tests::{at, cursor, group, job, pushes};
use crate::decide::{Action, PUSHES};

/// The state at `now_s`, when messages of the tenant that were sent up to `passed_s` had been received a stall time
/// ago.
fn busy(now_s: i64, passed_s: Option<i64>, quiet: bool) -> Circumstances<'static> {
    let passed = passed_s.map(|s| Timestamp(s * 1000));
    Circumstances { queue: QueueState::Busy { passed, quiet }, ..at(now_s, false) }
}

#[test]
fn a_chunk_in_a_busy_queue_is_overdue_once_later_messages_were_received() {
    let running = job(Status::Running, Stage::Processing);
    let unstarted = [group(0, &[(0, cursor(true, None))])];
    let push = [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }];
    for (now_s, passed_s, expected) in [
        (60, Some(15), &push[..]),
        (60, Some(14), &[]),
        (59, Some(15), &[]),
        (99_999, Some(14), &[]),
        (99_999, None, &[]),
    ] {
        assert_eq!(pushes(&running, &unstarted, &busy(now_s, passed_s, false)), expected, "{now_s} {passed_s:?}");
    }
}

#[test]
fn progress_of_other_chunks_does_not_hide_a_chunk_that_was_never_started() {
    let running = job(Status::Running, Stage::Processing);
    let begun = Cursor { due: None, ..cursor(false, None) };
    let moves = [Group { progressed_at: Timestamp(59_000), ..group(0, &[(0, begun)]) }];
    let push = [Action::SendChunks { group: 0, seen: 0, chunks: vec![1] }];
    assert_eq!(pushes(&running, &moves, &busy(60, Some(15), false)), push);
    assert_eq!(pushes(&running, &moves, &at(60, true)), [], "its message may still be waiting");
}

#[test]
fn a_queued_chunk_is_never_given_up() {
    let running = job(Status::Running, Stage::Processing);
    for quiet in [false, true] {
        for resends in 0..20 {
            let group = Group { resends, sent_at: Timestamp(1_000), ..group(resends, &[]) };
            let pushed = pushes(&running, &[group], &busy(99_999, Some(10), quiet));
            assert!(!pushed.iter().any(|action| matches!(action, Action::GiveUp { .. })), "{resends}: {pushed:?}");
        }
    }
    let passed = [Group { resends: PUSHES, sent_at: Timestamp(1_000), ..group(0, &[]) }];
    let given_up = [Action::GiveUp { group: 0, chunks: vec![0, 1] }];
    assert_eq!(pushes(&running, &passed, &busy(99_999, Some(16), false)), given_up);
}

#[test]
fn one_group_of_a_quiet_tenants_job_is_sent_as_a_probe() {
    let running = job(Status::Running, Stage::Processing);
    let numbered =
        |number, resends, sent_s: i64| Group { number, resends, sent_at: Timestamp(sent_s * 1000), ..group(0, &[]) };
    let probe = |group, seen| [Action::SendChunks { group, seen, chunks: vec![0, 1] }];
    let both = [numbered(0, 0, 0), numbered(1, 0, 0)];
    assert_eq!(pushes(&running, &both, &busy(60, None, false)), []);
    assert_eq!(pushes(&running, &both, &busy(59, None, true)), []);
    assert_eq!(pushes(&running, &both, &busy(60, None, true)), probe(0, 0));
    let probed = [numbered(0, 1, 60), numbered(1, 0, 0)];
    assert_eq!(pushes(&running, &probed, &busy(179, None, true)), [], "the wait doubles for the whole job");
    assert_eq!(pushes(&running, &probed, &busy(180, None, true)), probe(0, 1));
    // The probe was received, so the messages of the other groups are lost.
    let counts = Counts { succeeded: 10, ..Counts::default() };
    let through = [Group { counts, ..numbered(0, 0, 60) }, numbered(1, 0, 0)];
    let done = Job { split: SplitState { done_groups: [0].into(), groups: 2, ..running.split.clone() }, ..running };
    assert_eq!(pushes(&done, &through, &busy(150, Some(60), false)), probe(1, 0));
}

#[test]
fn a_manifest_is_read_only_if_a_chunk_may_need_a_push() {
    let working = Group { progressed_at: Timestamp(59_000), ..group(0, &[(0, cursor(false, None))]) };
    let done = Group { counts: Counts { succeeded: 10, ..Counts::default() }, ..group(0, &[]) };
    for (group, at, read) in [
        (&working, at(60, true), false),
        (&working, at(119, true), true),
        (&working, busy(60, Some(14), false), false),
        (&working, busy(60, Some(15), false), true),
        (&done, at(9_999, true), false),
    ] {
        assert_eq!(may_need_push(group, &at), read, "{at:?}");
    }
}
