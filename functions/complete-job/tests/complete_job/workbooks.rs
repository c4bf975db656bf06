//! Results in a workbook, and the cases in which they are CSV instead.

use std::cell::Cell;
use std::io::Cursor;

use calamine::{Data, Reader, Xlsx};
use complete_job::CompleteEnd;
use longshore_domain::job::Status;
use longshore_domain::results::{ResultFormat, ResultsForm};
use longshore_domain::timestamp::Timestamp;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::Fixture;

const PEOPLE: &str = "name\nAda\nBob\nCem\nDan\nEve\n";

thread_local!(static NOW: Cell<i64> = const { Cell::new(100_000) });

/// A job of five items in chunks of two, of which the second fails.
fn job(format: ResultFormat, output: &str) -> Fixture {
    let fixture = Fixture::with_results(PEOPLE, ResultsForm { format, ..ResultsForm::default() });
    let outcomes = [Outcome::Ok, Outcome::Fail, Outcome::Ok, Outcome::Ok, Outcome::Ok];
    for plan in fixture.split(2, None) {
        let mut worker = CraftedWorker::new(&fixture, &plan).with_output(output);
        let numbers = worker.next_numbers(worker.remaining());
        worker.work(&numbers.iter().map(|n| outcomes[*n as usize - 1]).collect::<Vec<_>>());
    }
    fixture.roll_up();
    fixture
}

fn cells(fixture: &Fixture) -> Vec<Vec<Data>> {
    let bytes = fixture.ports.files.inner.get(&fixture.key("results.xlsx")).unwrap();
    let mut workbook = Xlsx::new(Cursor::new(bytes)).unwrap();
    workbook.worksheet_range("results").unwrap().rows().map(<[_]>::to_vec).collect()
}

/// Returns the name of the results file in the receipt, and the codes of the report's issues.
fn outcome(fixture: &Fixture) -> (String, Vec<String>) {
    let results = fixture.receipt().results.unwrap();
    assert_eq!(results.rows, 4);
    assert_eq!(fixture.result().files.results.unwrap().rows, 4);
    let issues = fixture.result().issues.into_iter().skip(1).map(|issue| issue.code).collect();
    (results.name.rsplit_once('-').unwrap().1.to_owned(), issues)
}

fn workbook() -> (String, Vec<String>) {
    ("results.xlsx".into(), vec![])
}

fn csv() -> (String, Vec<String>) {
    ("results.csv".into(), vec!["results_as_csv".into()])
}

#[test]
fn a_workbook_has_the_output_of_each_item_that_succeeded() {
    let fixture = job(ResultFormat::Xlsx, "{\"a\":1}");
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert_eq!(outcome(&fixture), workbook());
    let text = |text: &str| Data::String(text.into());
    let rows = [1.0, 3.0, 4.0, 5.0].map(|n| vec![Data::Float(n), text("{\"a\":1}")]);
    let expected: Vec<_> = [vec![text("number"), text("output")]].into_iter().chain(rows).collect();
    assert_eq!(cells(&fixture), expected);
}

#[test]
fn a_large_workbook_is_uploaded_in_parts() {
    let mut fixture = job(ResultFormat::Xlsx, "1");
    fixture.part_bytes = 1_000;
    fixture.complete().unwrap();
    assert_eq!((outcome(&fixture), cells(&fixture).len()), (workbook(), 5));
    let size = fixture.ports.files.inner.get(&fixture.key("results.xlsx")).unwrap().len() as u64;
    assert!(size > 2_000 && size == fixture.receipt().results.unwrap().size, "{size}");
}

/// An invocation that reads outputs has begun the workbook.
#[test]
fn results_are_csv_after_three_invocations_that_did_not_end_the_workbook() {
    for (deaths, expected) in [(2, workbook()), (3, csv())] {
        let fixture = job(ResultFormat::Xlsx, "1");
        fixture.ports.files.set(|operation, key| operation != "read" || !key.ends_with(".out.jsonl"));
        for _ in 0..deaths {
            fixture.complete().unwrap_err();
        }
        fixture.ports.files.clear();
        fixture.complete().unwrap();
        assert_eq!(outcome(&fixture), expected, "{deaths} deaths");
        assert_eq!(fixture.rows("failed.csv").len(), 1);
    }
}

#[test]
fn results_are_csv_if_the_invocation_dies_after_it_gave_up_the_workbook() {
    let fixture = job(ResultFormat::Xlsx, &format!("\"{}\"", "x".repeat(40_000)));
    fixture.ports.files.set(|operation, key| operation != "write" || !key.ends_with("results.csv"));
    for _ in 0..2 {
        fixture.complete().unwrap_err();
    }
    fixture.ports.files.clear();
    fixture.complete().unwrap();
    assert_eq!(outcome(&fixture), csv());
}

#[test]
fn results_with_a_text_that_no_cell_can_hold_are_csv() {
    let fixture = job(ResultFormat::Xlsx, &format!("\"{}\"", "x".repeat(40_000)));
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert_eq!(outcome(&fixture), csv());
    let direct = job(ResultFormat::Csv, &format!("\"{}\"", "x".repeat(40_000)));
    direct.complete().unwrap();
    assert_eq!(fixture.table("results.csv"), direct.table("results.csv"));
}

#[test]
fn results_are_csv_if_the_time_is_too_short_for_a_workbook() {
    let fixture = job(ResultFormat::Xlsx, "1");
    let clock = || {
        NOW.set(NOW.get() + 20_000);
        Timestamp(NOW.get())
    };
    for _ in 0..20 {
        if fixture.job().status.is_final() {
            break;
        }
        fixture.complete_until(Timestamp(NOW.get() + 120_000), clock).unwrap();
    }
    assert_eq!(outcome(&fixture), csv());
}

#[test]
fn a_job_without_results_has_no_workbook_and_no_issue() {
    let fixture = Fixture::with_results(PEOPLE, ResultsForm { format: ResultFormat::Xlsx, ..ResultsForm::default() });
    for plan in fixture.split(10, None) {
        CraftedWorker::new(&fixture, &plan).work(&[Outcome::Skip; 5]);
    }
    fixture.roll_up();
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert!(fixture.receipt().results.is_none());
    assert_eq!(fixture.result().issues.len(), 1);
}
