//! Stops of jobs that cost too much, or whose create message is dead.

use longshore_domain::cost::{ChunkUsage, NanoDollars};
use longshore_domain::job::{JobTimes, SplitState, Tolerance};
use longshore_domain::tenant::TenantId;

use super::tests::{STALL_S, at, group, job, pushes};
use super::*;

#[test]
fn a_job_that_costs_more_than_its_maximum_is_stopped_although_no_worker_commits() {
    let of_cost = |max_cost| Job {
        tolerance: Tolerance { max_cost, ..Tolerance::default() },
        ..job(Status::Running, Stage::Processing)
    };
    let spent = [Group { usage: ChunkUsage { reads: 1_000_000, ..ChunkUsage::default() }, ..group(0, &[]) }];
    let (low, high) = (of_cost(Some(NanoDollars(1_000_000))), of_cost(Some(NanoDollars(10_000_000_000))));
    let code = |actions: &[Action]| match actions {
        [Action::Stop(stop)] => stop.error.as_ref().map(|error| error.code.clone()),
        _ => None,
    };
    assert_eq!(code(&pushes(&low, &spent, &at(1, true))).as_deref(), Some("cost_limit"));
    assert_eq!(
        code(&pushes(&low, &spent, &Circumstances { is_paused: true, ..at(1, true) })),
        None,
        "it costs nothing"
    );
    for unlimited in [high, of_cost(None)] {
        assert_eq!(code(&pushes(&unlimited, &spent, &at(1, true))), None);
    }
}

#[test]
fn a_dead_split_stops_its_job_after_two_pushes_without_effect() {
    let splitting = Job {
        times: JobTimes { updated_at: Timestamp(10_000), ..job(Status::Running, Stage::Splitting).times },
        ..job(Status::Running, Stage::Splitting)
    };
    let dead_letter =
        CreateMessage { tenant: Some(TenantId::from_static("t")), ..CreateMessage::of_job(splitting.job_id) };
    let decide = |job: &Job, now_s: i64| decide_dead_split(job, &dead_letter, Timestamp(now_s * 1000), STALL_S);
    assert_eq!(
        decide(&splitting, 99_999),
        None,
        "another message may be waiting in its lane, so the job is pushed first"
    );
    let splitting = Job { resends: 1, ..splitting };
    assert_eq!(decide(&splitting, 99_999), None, "this push may have been counted after a pause had held it");
    let splitting = Job { resends: 2, ..splitting };
    assert_eq!(decide(&splitting, 249), None);
    assert!(matches!(decide(&splitting, 250), Some(Action::Stop(stop)) if stop.status == Status::Failed));
    for job in [
        Job { generation: 1, ..splitting.clone() },
        Job { split: SplitState { ended: true, ..splitting.split.clone() }, ..splitting.clone() },
        Job { status: Status::Failed, ..splitting.clone() },
    ] {
        assert_eq!(decide(&job, 999), None);
    }
}
