//! Tests of the state machine: every transition as a table of before, event and after.

use super::*;
use crate::group::{ChunkPlan, Manifest};
use crate::ids::JobId;
use crate::job::SplitState;
use crate::tenant::TenantId;

fn job(status: Status, stage: Stage) -> Job {
    Job {
        status,
        stage,
        split: SplitState { groups: 1, ..SplitState::default() },
        ..Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0))
    }
}

fn manifest(group: u32) -> Manifest {
    Manifest { group, chunks: vec![ChunkPlan { first: 1, items: 3, start: 0, end: 30, oversize: false, keys: None }] }
}

fn plan(generation: u32, group: u32) -> GroupPlan {
    GroupPlan::from_file(generation, manifest(group), 0..30)
}

fn stop() -> Stop {
    Stop { status: Status::Failed, error: None, at: Timestamp(1) }
}

fn finish(status: Status) -> Finish {
    Finish::new(status, Counts::default(), Timestamp(1))
}

#[test]
fn each_event_is_accepted_in_its_stage_and_refused_in_the_others() {
    use Stage::{Done, Processing, Queued, Splitting, Stopping};
    use Status::{Canceled, Completed, Failed, Running, Waiting};
    type Event = fn(&mut Job) -> Transition;
    let begin: Event = |j| j.begin(0, Timestamp(1));
    let next_group: Event = |j| j.commit_group(&plan(0, 1), Timestamp(1));
    let old_group: Event = |j| j.commit_group(&plan(0, 0), Timestamp(1));
    let older_group: Event = |j| j.commit_group(&plan(1, 1), Timestamp(1));
    let end_split: Event = |j| j.end_split(0, 1, &[], Timestamp(1));
    let end_split_of_another: Event = |j| j.end_split(1, 1, &[], Timestamp(1));
    let end_split_early: Event = |j| j.end_split(0, 0, &[], Timestamp(1));
    let stop_another: Event = |j| j.stop(1, &stop());
    let stop: Event = |j| j.stop(0, &stop());
    let complete: Event = |j| j.finish(&finish(Status::Completed));
    let fail: Event = |j| j.finish(&finish(Status::Failed));
    let delete: Event = |j| j.delete(Timestamp(1));
    for (name, status, stage, event, after) in [
        ("begin", Waiting, Queued, begin, Some((Running, Splitting))),
        ("begin twice", Running, Splitting, begin, None),
        ("begin while stopping", Waiting, Stopping, begin, None),
        ("the next group", Running, Splitting, next_group, Some((Running, Splitting))),
        ("a committed group again", Running, Splitting, old_group, None),
        ("a group of another generation", Running, Splitting, older_group, None),
        ("a group after the end", Running, Processing, next_group, None),
        ("a group while stopping", Running, Stopping, next_group, None),
        ("end of split", Running, Splitting, end_split, Some((Running, Processing))),
        ("end of split by a splitter that missed a group", Running, Splitting, end_split_early, None),
        ("end of split of another generation", Running, Splitting, end_split_of_another, None),
        ("end of split while stopping", Running, Stopping, end_split, None),
        ("stop", Running, Processing, stop, Some((Running, Stopping))),
        ("stop of a waiting job", Waiting, Queued, stop, Some((Waiting, Stopping))),
        ("stop of another generation", Running, Processing, stop_another, None),
        ("stop twice", Running, Stopping, stop, None),
        ("stop after the end", Completed, Done, stop, None),
        ("complete", Running, Processing, complete, Some((Completed, Done))),
        ("complete while stopping", Running, Stopping, complete, None),
        ("fail while stopping", Running, Stopping, fail, Some((Failed, Done))),
        ("delete", Running, Processing, delete, Some((Running, Processing))),
        ("delete after the end", Canceled, Done, delete, Some((Canceled, Done))),
        ("complete twice", Completed, Done, complete, None),
        ("fail after cancel", Canceled, Done, fail, None),
    ] {
        let mut job = job(status, stage);
        let made = event(&mut job);
        match after {
            Some(after) => assert_eq!((job.status, job.stage), after, "{name}"),
            None => assert_eq!((made, job.status, job.stage), (Transition::Refused, status, stage), "{name}"),
        }
    }
}

#[test]
fn all_is_done_only_when_the_split_has_ended_and_every_group_is_done() {
    let mut job = job(Status::Running, Stage::Splitting);
    job.group_done(0, Timestamp(1));
    assert!(!job.all_done());
    job.end_split(0, 1, &[], Timestamp(1));
    assert!(job.all_done());
}

/// A huge file may have re-sends now and then for hours; only re-sends without progress lead to its end. The begin of a
/// split is not progress: a crash may follow each one.
#[test]
fn progress_of_a_split_resets_the_count_of_resends() {
    let counted = |stage| Job { resends: 3, ..job(Status::Running, stage) };
    let mut splitting = counted(Stage::Splitting);
    splitting.commit_group(&plan(1, 1), Timestamp(1));
    assert_eq!(splitting.resends, 3, "refused");
    splitting.commit_group(&plan(0, 1), Timestamp(1));
    assert_eq!((splitting.split.groups, splitting.resends), (2, 0));
    let mut ends = counted(Stage::Splitting);
    ends.end_split(0, 1, &[], Timestamp(1));
    assert_eq!((ends.split.ended, ends.resends), (true, 0));
    let mut begins = Job { status: Status::Waiting, ..counted(Stage::Queued) };
    begins.begin(0, Timestamp(1));
    assert_eq!((begins.stage, begins.resends), (Stage::Splitting, 3));
}

#[test]
fn a_create_message_during_a_pause_resets_only_the_count_of_resends() {
    for (stage, generation, resends) in [
        (Stage::Queued, 0, 0),
        (Stage::Splitting, 0, 0),
        (Stage::Splitting, 1, 3),
        (Stage::Processing, 0, 3),
        (Stage::Stopping, 0, 3),
        (Stage::Done, 0, 3),
    ] {
        let mut paused = Job { resends: 3, ..job(Status::Running, stage) };
        let expected = Job { resends, ..paused.clone() };
        paused.reset_split_resends(generation);
        assert_eq!(paused, expected, "{stage:?}");
    }
}

#[test]
fn a_scheduled_job_begins_only_once_it_was_put_into_its_queue() {
    let scheduled = Job { is_scheduled: true, ..job(Status::Waiting, Stage::Queued) };
    assert!(!scheduled.needs_sweep() && scheduled.is_unfinished());
    assert_eq!(scheduled.clone().begin(0, Timestamp(1)), Transition::Refused);
    let mut queued = scheduled.clone();
    assert!(matches!(queued.enqueue(Timestamp(1)), Transition::Made(_)));
    assert_eq!((queued.is_scheduled, queued.needs_sweep(), queued.times.updated_at), (false, true, Timestamp(1)));
    assert_eq!(queued.enqueue(Timestamp(2)), Transition::Refused);
    assert!(matches!(queued.begin(0, Timestamp(2)), Transition::Made(_)));
    let mut stopped = scheduled.clone();
    assert!(matches!(stopped.stop(0, &Stop::canceled(Timestamp(1))), Transition::Made(_)));
    let mut deleted = scheduled;
    assert!(matches!(deleted.delete(Timestamp(1)), Transition::Made(_)));
    for job in [&mut stopped, &mut deleted] {
        assert!(job.needs_sweep() && job.enqueue(Timestamp(2)) == Transition::Refused);
    }
}

#[test]
fn a_job_is_deleted_once_and_remains_work_for_the_sweeper() {
    let mut job = job(Status::Completed, Stage::Done);
    assert!(!job.is_unfinished());
    assert!(matches!(job.delete(Timestamp(1)), Transition::Made(_)));
    assert_eq!(job.delete(Timestamp(2)), Transition::Refused);
    assert!(job.times.deleted_at == Some(Timestamp(1)) && job.is_unfinished());
}

#[test]
fn an_issue_replaces_an_earlier_one_with_its_code() {
    let issue = |code: &str, message: &str| JobError::new(code, message);
    let mut job = job(Status::Running, Stage::Splitting);
    job.issues = vec![issue("a", "old"), issue("b", "kept")];
    let new = [issue("a", "new"), issue("c", "1"), issue("c", "2"), issue("c", "1")];
    let merged = [issue("b", "kept"), issue("a", "new"), issue("c", "1"), issue("c", "2")];
    assert_eq!(job.issues_with(&new), merged);
    job.issues = merged.to_vec();
    assert_eq!(job.issues_with(&new), merged);
    let many: Vec<_> = (0..100).map(|n| issue(&format!("c{n}"), "")).collect();
    assert_eq!(job.issues_with(&many).len(), MAX_ISSUES);
}

proptest::proptest! {
    /// DynamoDB rejects an item of more than 400 KB, and then every later write of the job.
    #[test]
    fn no_error_and_no_issue_makes_a_job_large(
        text in proptest::sample::select(vec!["x", "é", "\u{10FFFF}", "\u{0}", "\""]),
        lengths in proptest::collection::vec(0_usize..100_000, 0..30),
        splits in 1_u32..6,
    ) {
        let mut job = job(Status::Running, Stage::Splitting);
        for split in 0..splits {
            let issues: Vec<_> = lengths.iter().enumerate().map(|(n, length)| {
                JobError::new(format!("{split}{n}{}", text.repeat(length / 8)), text.repeat(*length))
            }).collect();
            job.stage = Stage::Splitting;
            job.end_split(0, 1, &issues, Timestamp(1));
            job.error = issues.first().cloned();
            job.stop = Some(Stop { error: issues.last().cloned(), ..stop() });
        }
        let errors = job.issues.iter().chain(&job.error).chain(job.stop.iter().filter_map(|stop| stop.error.as_ref()));
        let bytes: usize = errors.map(|error| error.code.len() + error.message.len()).sum();
        proptest::prop_assert!(bytes < 100 * 1024, "{} bytes", bytes);
        let stored: Job = serde_json::from_value(serde_json::to_value(&job).unwrap()).unwrap();
        proptest::prop_assert_eq!(stored, job);
    }
}

#[test]
fn a_stored_error_is_shortened_when_it_is_read() {
    let stored = serde_json::json!({"code": "c".repeat(9_000), "message": "m".repeat(90_000)});
    let error: JobError = serde_json::from_value(stored).unwrap();
    assert!(error.code.len() <= 100 && error.message.len() <= 4 * 1024);
}
