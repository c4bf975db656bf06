//! Audits of the ledger: of an ended job, a running job, and a retry.

use longshore_domain::ids::ChunkId;
use longshore_domain::job::{CarriedOver, Stage, Status};
use longshore_domain::outcome::Counts;

use super::audited::*;

#[test]
fn a_sound_job_is_equal() {
    let document = Audited::sound().audit();
    assert_eq!((document.differences, document.unchecked, document.equal), (vec![], vec![], Some(true)));
    assert!(document.checks.len() > 30, "{:?}", document.checks);
}

#[test]
fn every_change_of_the_ledger_is_reported() {
    let table: [Tampering; 14] = [
        (
            "a group has lost a success",
            |a| a.records.groups[1].0.counts.succeeded -= 1,
            &["cursors of group 1: 2 3", "succeeded of job: 4 3", "completed_items of job: 7 6"],
        ),
        (
            "a success became a failure",
            |a| {
                a.records.groups[0].0.counts = Counts { succeeded: 1, failed: 2, skipped: 1 };
            },
            &["succeeded of job: 4 3", "failed of job: 2 3", "group_rows of group 0 in failed.csv: 2 1"],
        ),
        (
            "a failure went to another group",
            |a| {
                a.records.groups[0].0.counts = Counts { succeeded: 1, failed: 2, skipped: 1 };
                a.records.groups[1].0.counts = Counts { succeeded: 3, failed: 0, skipped: 0 };
            },
            &["group_rows of group 0 in failed.csv: 2 1", "group_rows of group 1 in failed.csv: 0 1"],
        ),
        ("a group has another size", |a| a.records.groups[1].0.items = 4, &["group_items of group 1: 3 4"]),
        ("a group has other bytes", |a| a.records.groups[1].0.bytes = 7, &["group_bytes of group 1: 5 7"]),
        (
            "a cursor went back",
            |a| {
                a.records.groups[0].0.cursors.insert(1, cursor(0, 1, false));
            },
            &["cursors of group 0: 4 3"],
        ),
        (
            "a cursor is gone",
            |a| {
                a.records.groups[0].0.cursors.remove(&1);
            },
            &["cursors of group 0: 4 2"],
        ),
        (
            "a cursor of no chunk",
            |a| {
                a.records.groups[0].0.cursors.insert(2, cursor(0, 0, true));
            },
            &["strange_cursors of group 0: 0 1"],
        ),
        (
            "a group is gone",
            |a| {
                a.records.groups.remove(0);
            },
            &[
                "succeeded of job: 4 2",
                "failed of job: 2 1",
                "skipped of job: 1 0",
                "completed_items of job: 7 3",
                "groups of job: 2 1",
                "item_numbers of chunk 0 of group 1: 1 5",
            ],
        ),
        (
            "a manifest is gone",
            |a| a.records.groups[1].1 = None,
            &["manifests of group 1: 1 0", "item_count of job: 7 4", "split_offset of job: 17 11"],
        ),
        (
            "a manifest has a gap",
            |a| plan(a, 0, 1).first = 4,
            &[
                "item_numbers of chunk 1 of group 0: 3 4",
                "item_numbers of chunk 0 of group 1: 6 5",
                "group_rows of group 0 in skipped.csv: 1 0",
            ],
        ),
        (
            "a manifest has an item more",
            |a| plan(a, 1, 0).items = 4,
            &["group_items of group 1: 4 3", "cursors of group 1: 3 4", "item_count of job: 7 8"],
        ),
        (
            "two ranges overlap",
            |a| plan(a, 1, 0).start = 10,
            &["group_bytes of group 1: 7 5", "byte_ranges of chunk 0 of group 1: at most 10 11"],
        ),
        (
            "the job has other totals",
            |a| a.records.job.completion.totals = Some(Counts { succeeded: 5, failed: 1, skipped: 1 }),
            &[
                "succeeded of job: 5 4",
                "failed of job: 1 2",
                "result_succeeded of result.json: 5 4",
                "result_failed of result.json: 1 2",
            ],
        ),
    ];
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        assert_eq!(without_files(audited.differences()), expected, "{what}");
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}

#[test]
fn the_ledger_of_a_running_job_is_checked() {
    let mut audited = Audited::sound();
    let job = &mut audited.records.job;
    (job.status, job.stage, job.completion.totals) = (Status::Running, Stage::Processing, None);
    let cursor = audited.cursor(ChunkId::new(1, 0));
    (cursor.position, cursor.finished) = (2, false);
    audited.records.groups[1].0.counts.succeeded = 1;
    assert_eq!(unchecked(&audited), (None, vec!["totals".to_owned(), "report".to_owned()]));
    // In a later round, only the work files show which items have ended.
    let cursor = audited.cursor(ChunkId::new(1, 0));
    (cursor.round, cursor.position) = (1, 0);
    assert_eq!(audited.differences(), ["work_ended of group 1: 2 3"], "this round has no work file");
    let failed = r#"{"n":5,"end":"failed","code":"bad","field":null,"message":"no","raw":"e"}"#;
    let waits = r#"{"n":6,"end":"transient","attempts":1,"reason":"busy","raw":"f"}"#;
    audited.put_work(ChunkId::new(1, 0), &format!("{failed}\n{waits}"));
    assert_eq!(unchecked(&audited).0, None);
    // A group that was committed after the groups were read.
    audited.records.job.split.ended = false;
    audited.records.job.split.groups = 3;
    audited.records.job.split.item_count = 9;
    assert_eq!(unchecked(&audited).1, ["totals", "item_count", "report"]);
    audited.records.groups[0].0.counts.succeeded = 9;
    assert_eq!(audited.audit().equal, Some(false));
}

#[test]
fn carried_over_counts_equal_those_of_earlier_generations() {
    let retried = || {
        let mut audited = Audited::sound();
        let job = &mut audited.records.job;
        job.retry.carried_over = CarriedOver {
            counts: Counts { succeeded: 4, failed: 0, skipped: 1 },
            groups: 2,
            split_ended: true,
            ..CarriedOver::default()
        };
        (job.generation, job.split.groups, job.split.done_groups) = (1, 3, [0, 1, 2].into());
        job.completion.totals = Some(Counts { succeeded: 5, failed: 1, skipped: 1 });
        // The chunk of a work file has a first item, but no range.
        audited.records.groups.push(group(2, &[(2, 2, 0, 0)], Counts { succeeded: 1, failed: 1, skipped: 0 }));
        audited.put_work(
            ChunkId::new(2, 0),
            r#"{"n":2,"end":"failed","code":"bad","field":null,"message":"no","raw":"b"}"#,
        );
        audited
    };
    assert_eq!(unchecked(&retried()), (None, vec!["report".to_owned()]));
    let mut audited = retried();
    audited.records.job.retry.carried_over.counts.succeeded = 3;
    assert_eq!(places(&audited)[..2], ["base_succeeded of job", "succeeded of job"]);
    let mut audited = retried();
    audited.records.groups[0].0.counts.skipped = 0;
    assert_eq!(places(&audited)[..2], ["cursors of group 0", "base_skipped of job"]);
    let mut audited = retried();
    plan(&mut audited, 1, 0).first = 6;
    let places = without_files(places(&audited));
    assert_eq!(places, ["item_numbers of chunk 0 of group 1", "item_count of job"]);
}
