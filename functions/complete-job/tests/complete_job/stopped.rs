//! Stopped jobs: every item that has not ended is listed once.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use complete_job::CompleteEnd;
use longshore_domain::group::CommitOutcome;
use longshore_domain::job::{JobError, Reopen, Selection, Status, Stop, Tolerance};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{JobStore, JobTransitions, Reopened};
use longshore_domain::records::Format;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, job_after, now};

const LONG: &str = "a cell that is longer than a row of these tests may be";

fn numbered(rows: u64) -> String {
    let rows: String = (1..=rows).map(|n| format!("p{n},{n}\n")).collect();
    format!("name,age\n{rows}")
}

fn unprocessed(fixture: &Fixture) -> Vec<u64> {
    fixture.rows("unprocessed.csv").into_keys().collect()
}

#[test]
fn a_canceled_job_lists_every_item_that_has_not_ended() {
    let fixture = Fixture::csv(&numbered(20));
    let plans = fixture.split(4, Some(2));
    assert_eq!(plans.len(), 5, "two chunks and the three remaining ones, of four items each");
    let mut first = CraftedWorker::new(&fixture, &plans[0]);
    first.work(&[Outcome::Ok, Outcome::Fail, Outcome::Later, Outcome::Skip]);
    let mut second = CraftedWorker::new(&fixture, &plans[1]);
    second.work(&[Outcome::Later, Outcome::Ok, Outcome::Later, Outcome::Later]);
    second.work(&[Outcome::Ok, Outcome::Later]);
    let mut third = CraftedWorker::new(&fixture, &plans[2]);
    third.work(&[Outcome::Later, Outcome::Ok]);
    fixture.cancel();
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
    assert_eq!(unprocessed(&fixture), [3, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    assert_eq!(fixture.table("unprocessed.csv").unwrap()[..2], [["row", "name", "age"], ["3", "p3", "3"]]);
    let result = fixture.result();
    assert_eq!((result.item_count, result.counts.succeeded, result.counts.unprocessed), (20, 4, 14));
    assert_eq!(result.error.unwrap().code, "canceled");
}

thread_local!(static WORKER: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) });

/// A clock at 100 ms before the end of the grace period of five seconds. At each read, the worker takes its next step.
fn late_in_the_grace() -> Timestamp {
    if let Some(step) = WORKER.with_borrow_mut(Vec::pop) {
        step();
    }
    Timestamp(13_900)
}

#[test]
fn a_commit_within_the_grace_period_counts_and_the_groups_are_closed_after_it() {
    let fixture = Fixture::csv(&numbered(8));
    let plans = fixture.split(4, Some(1));
    fixture.cancel();
    let worker = fixture.clone();
    // The first read is for the completion's turn, the second one for the remaining grace period.
    let commit = move || {
        let outcome = CraftedWorker::new(&worker, &plans[0]).work(&[Outcome::Ok; 4]);
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    };
    WORKER.set(vec![Box::new(commit), Box::new(|| ())]);
    let begun = Instant::now();
    assert_eq!(fixture.complete_at(late_in_the_grace).unwrap(), CompleteEnd::Finished(Status::Canceled));
    assert!(begun.elapsed() >= Duration::from_millis(100));
    assert_eq!((fixture.result().counts.succeeded, unprocessed(&fixture)), (4, vec![5, 6, 7, 8]));
}

#[test]
fn the_part_of_the_file_that_was_not_split_is_listed() {
    let fixture = Fixture::csv(&numbered(5_000));
    let plans = fixture.split(100, Some(1));
    CraftedWorker::new(&fixture, &plans[1]).work(&[Outcome::Ok; 100]);
    fixture.cancel();
    fixture.complete().unwrap();
    let rows = fixture.rows("unprocessed.csv");
    assert!(rows.keys().copied().eq((1..=100).chain(201..=5_000)));
    assert!(rows.iter().all(|(n, cells)| *cells == [format!("p{n}"), n.to_string()]));
    assert_eq!(fixture.result().item_count, 5_000);
}

#[test]
fn a_job_stopped_before_its_first_group_lists_the_whole_file() {
    let fixture = Fixture::csv(&numbered(3));
    fixture.cancel();
    assert_eq!(fixture.complete_at(|| Timestamp(9_000)).unwrap(), CompleteEnd::Finished(Status::Canceled));
    assert_eq!(unprocessed(&fixture), [1, 2, 3]);
    assert_eq!(fixture.table("unprocessed.csv").unwrap()[0], ["row", "name", "age"]);
}

#[test]
fn a_job_that_is_stopped_before_its_file_is_prepared_lists_no_rows() {
    let fixture = Fixture::of_file(b"\x1f\x8b\x08 compressed", Format::Csv, Tolerance::default());
    fixture.cancel();
    assert_eq!(fixture.complete_at(|| Timestamp(9_000)).unwrap(), CompleteEnd::Finished(Status::Canceled));
    let result = fixture.result();
    assert_eq!((result.item_count, fixture.table("unprocessed.csv")), (0, None));
    assert!(result.issues.iter().any(|issue| issue.code == "file_not_prepared"), "{:?}", result.issues);
}

#[test]
fn a_job_over_an_unreadable_file_ends_without_rows() {
    let fixture = Fixture::of_file(b"%PDF-1.7 a document\0\0", Format::Csv, Tolerance::default());
    let error = Some(JobError::new("unreadable", "this is a document"));
    let stop = Stop { status: Status::Failed, error, at: Timestamp(9_000) };
    job_after(now(fixture.ports.store.stop(fixture.id, 0, &stop)).unwrap());
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Failed));
    let result = fixture.result();
    assert_eq!((result.item_count, result.error.unwrap().code.as_str()), (0, "unreadable"));
    assert_eq!(
        result.issues.len(),
        2,
        "the job's issue, and the reason why the file cannot be listed: {:?}",
        result.issues
    );
}

#[test]
fn an_item_that_is_too_long_is_listed_by_number_if_it_has_its_own_chunk() {
    for (chunk_bytes, listed) in [(40, ""), (1 << 20, LONG)] {
        let fixture = Fixture { chunk_bytes, ..Fixture::csv(&format!("name,age\na,1\n{LONG},2\nb,3\n")) };
        fixture.split(10, None);
        fixture.cancel();
        fixture.complete().unwrap();
        let rows = fixture.table("unprocessed.csv").unwrap();
        let age = if listed.is_empty() { "" } else { "2" };
        assert_eq!(rows[1..], [["1", "a", "1"], ["2", listed, age], ["3", "b", "3"]]);
    }
}

#[test]
fn a_row_of_any_length_is_listed_by_number_in_bounded_memory() {
    let endless = "x".repeat(17 << 20);
    let fixture = Fixture::csv(&format!("name,age\na,1\n{endless}\nb,3"));
    fixture.cancel();
    fixture.complete().unwrap();
    let rows = fixture.table("unprocessed.csv").unwrap();
    assert_eq!(rows[1..], [["1", "a", "1"], ["2", "", ""], ["3", "b", "3"]]);
}

#[test]
fn a_job_without_its_source_lists_numbers_and_recorded_rows() {
    let fixture = Fixture::csv(&numbered(30));
    let plans = fixture.split(4, Some(1));
    CraftedWorker::new(&fixture, &plans[0]).work(&[Outcome::Later, Outcome::Ok]);
    fixture.lose_source();
    fixture.cancel();
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
    let rows = fixture.table("unprocessed.csv").unwrap();
    assert_eq!(rows[1..4], [["1", "p1", "1"], ["3", "", ""], ["4", "", ""]]);
    assert_eq!(rows.len(), 1 + 7);
    let issues: Vec<_> = fixture.result().issues.into_iter().map(|issue| issue.code).collect();
    assert_eq!(issues, ["unknown_column", "rest_not_listed", "source_gone"]);
}

#[test]
fn of_earlier_generations_only_groups_with_skipped_items_are_read() {
    for (others, reads) in [(Outcome::Ok, 1), (Outcome::Skip, 2)] {
        let fixture = Fixture::csv(&numbered(4));
        for plan in fixture.split(4, None) {
            CraftedWorker::new(&fixture, &plan).work(&[Outcome::Fail, others, others, others]);
        }
        fixture.roll_up();
        fixture.complete().unwrap();
        let at = Timestamp(70_000);
        let reopen =
            Reopen { generation: 0, at, deadline_at: Timestamp(99_000), selection: Selection::All, registration: None };
        let Reopened::Made(job) = now(fixture.ports.store.reopen(&fixture.job(), &reopen)).unwrap() else { panic!() };
        let stop = Stop { status: Status::Canceled, error: None, at };
        job_after(now(fixture.ports.store.stop(fixture.id, 1, &stop)).unwrap());
        let counted = Arc::new(AtomicU32::new(0));
        let of_work = Arc::clone(&counted);
        fixture.ports.files.set(move |operation, key| {
            of_work.fetch_add(u32::from(operation == "read" && key.contains("/chunks/")), Ordering::Relaxed);
            true
        });
        let end = fixture.deliver(&CompleteMessage::new(&job), 0, (Timestamp(i64::MAX), || Timestamp(90_000)));
        assert_eq!(end.unwrap(), CompleteEnd::Finished(Status::Canceled));
        assert_eq!(unprocessed(&fixture), [1], "the failed item was to run again");
        assert_eq!(
            counted.load(Ordering::Relaxed),
            reads,
            "files of items that were not replanned, and of skipped items"
        );
    }
}

#[test]
fn json_lines_and_options_are_listed_unchanged() {
    let lines = Fixture::of_file(b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", Format::JsonLines, Tolerance::default());
    lines.split(1, Some(1));
    lines.cancel();
    lines.complete().unwrap();
    let rows = lines.table("unprocessed.csv").unwrap();
    assert_eq!(rows, [["row", "item"], ["1", "{\"a\":1}"], ["2", "{\"a\":2}"], ["3", "{\"a\":3}"]]);
    for split in [false, true] {
        let options = Fixture::of_options(json!({ "n": 1 }));
        if split {
            options.split_options();
        }
        options.cancel();
        options.complete().unwrap();
        assert_eq!(options.table("unprocessed.csv").unwrap(), [["row", "item"], ["1", "{\"n\":1}"]], "split: {split}");
    }
}

#[test]
fn a_job_stopped_after_its_last_item_has_no_unprocessed_items() {
    let fixture = Fixture::csv(&numbered(2));
    let plans = fixture.split(4, None);
    CraftedWorker::new(&fixture, &plans[0]).work(&[Outcome::Ok, Outcome::Fail]);
    fixture.roll_up();
    fixture.cancel();
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
    assert_eq!((unprocessed(&fixture).len(), fixture.rows("failed.csv").len()), (0, 1));
}

#[test]
fn a_worker_commits_nothing_after_the_close() {
    let fixture = Fixture::csv(&numbered(8));
    let plans = fixture.split(4, None);
    let mut late = CraftedWorker::new(&fixture, &plans[1]);
    late.work(&[Outcome::Fail]);
    fixture.cancel();
    fixture.complete().unwrap();
    assert_eq!(late.work(&[Outcome::Ok]), CommitOutcome::Closed);
    assert_eq!(now(fixture.ports.store.job(fixture.id)).unwrap().unwrap().completion.totals.unwrap().done(), 1);
}
