//! Decisions about a paused job.

use longshore_domain::outcome::Counts;

use super::tests::{at, cursor, group, job, pushes};
use super::*;

#[test]
fn a_job_that_is_paused_is_not_pushed_and_still_ends() {
    let paused = |now_s| Circumstances { is_paused: true, ..at(now_s, true) };
    let unfinished = group(PUSHES, &[(0, cursor(false, None))]);
    for (status, stage) in
        [(Status::Waiting, Stage::Queued), (Status::Running, Stage::Splitting), (Status::Running, Stage::Processing)]
    {
        let job = job(status, stage);
        let groups = if stage == Stage::Queued { vec![] } else { vec![unfinished.clone()] };
        assert_ne!(pushes(&job, &groups, &at(10_000, true)), [], "{stage:?}");
        assert_eq!(pushes(&job, &groups, &paused(10_000)), [], "{stage:?}");
        assert!(matches!(pushes(&job, &groups, &paused(100_000))[..], [Action::Stop(_)]), "{stage:?}: its deadline");
    }
    let stopping = job(Status::Running, Stage::Stopping);
    assert_eq!(pushes(&stopping, &[], &paused(10_000)), [Action::SendComplete]);
    let done = group(0, &[(0, cursor(true, None)), (1, cursor(true, None))]);
    let done = Group { counts: Counts { succeeded: 10, ..Counts::default() }, ..done };
    let processing = job(Status::Running, Stage::Processing);
    assert_eq!(pushes(&processing, &[done], &paused(10_000)), [Action::RollUp { group: 0 }]);
}
