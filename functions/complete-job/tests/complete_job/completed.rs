//! Jobs whose items have all ended.

use complete_job::{CompleteEnd, Completer};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Status, Tolerance};
use longshore_domain::message::CompleteMessage;
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, SOURCE_KEY, now};

const PEOPLE: &str = "name,=age,note\nAda,36,\"a, \"\"b\"\"\"\nBob\nCem,1,2,3\n=Dan,-5.2,-x\nEve,1,\"two\nlines\"\n";

fn process(fixture: &Fixture, outcomes: &[Outcome]) {
    for plan in fixture.split(10, None) {
        CraftedWorker::new(fixture, &plan).work(outcomes);
    }
    fixture.roll_up();
}

#[test]
fn a_completed_job_reports_failed_and_skipped_items() {
    let fixture = Fixture::csv(PEOPLE);
    process(&fixture, &[Outcome::Fail, Outcome::Fail, Outcome::Skip, Outcome::Fail, Outcome::Ok]);
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    let report = fixture.report();
    let text = |name: &str| String::from_utf8(report[&fixture.key(name)].clone()).unwrap();
    assert_eq!(
        text("failed.csv"),
        "row,name,'=age,note,code,field,message\r\n\
         1,Ada,36,\"a, \"\"b\"\"\",bad,,'@1 is wrong\r\n\
         2,Bob,,,bad,name,'@2 is wrong\r\n\
         4,'=Dan,-5.2,'-x,bad,name,'@4 is wrong\r\n"
    );
    assert_eq!(text("skipped.csv"), "row,name,'=age,note,reason\r\n3,Cem,1,\"2,3\",\"asked, \"\"politely\"\"\"\r\n");
    assert_eq!(report.len(), 4, "{:?}", report.keys());
}

/// The crafted worker writes no outputs, as one of a version whose handler had none.
#[test]
fn a_job_with_missing_outputs_ends_without_a_results_file() {
    for (outcomes, files) in
        [([Outcome::Ok; 5], 2), ([Outcome::Skip, Outcome::Ok, Outcome::Ok, Outcome::Ok, Outcome::Fail], 4)]
    {
        let fixture = Fixture::with_results(PEOPLE, ResultsForm::default());
        process(&fixture, &outcomes);
        assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
        let codes: Vec<_> = fixture.result().issues.iter().map(|issue| issue.code.clone()).collect();
        assert_eq!(codes, ["unknown_column", "results_incomplete"]);
        assert_eq!(fixture.report().len(), files, "{:?}", fixture.report().keys());
    }
    let fixture = Fixture::with_results(PEOPLE, ResultsForm::default());
    process(&fixture, &[Outcome::Fail; 5]);
    fixture.complete().unwrap();
    assert_eq!(fixture.result().issues.len(), 1, "no item has an output");
}

#[test]
fn the_result_document_describes_the_end_of_the_job() {
    let fixture = Fixture::csv(PEOPLE);
    process(&fixture, &[Outcome::Fail, Outcome::Fail, Outcome::Skip, Outcome::Fail, Outcome::Ok]);
    fixture.complete().unwrap();
    let prefix = format!("jobs/default/{}/report/0/{}", fixture.id, fixture.job().completion.report.unwrap());
    assert_eq!(
        serde_json::to_value(fixture.result()).unwrap(),
        json!({
            "jobId": fixture.id, "jobType": "probe", "status": "completed", "itemCount": 5,
            "counts": { "succeeded": 1, "failed": 3, "skipped": 1, "unprocessed": 0 },
            "failuresByCode": { "bad": 3 },
            "timings": {
                "createdAt": "1970-01-01T00:00:01Z", "startedAt": "1970-01-01T00:00:02Z",
                "finishedAt": "1970-01-01T00:01:00Z", "queuedMs": 1_000, "runMs": 58_000,
            },
            "error": null,
            "issues": [{ "code": "unknown_column", "message": "the column \"z\" is not in the schema" }],
            "files": {
                "failed": { "key": format!("{prefix}/failed.csv"), "rows": 3 },
                "skipped": { "key": format!("{prefix}/skipped.csv"), "rows": 1 },
            },
        })
    );
    let job = fixture.job();
    assert_eq!((job.status, job.completion.totals.unwrap().done()), (Status::Completed, 5));
}

#[test]
fn a_job_without_failures_reads_only_its_input_and_writes_only_receipt_and_result() {
    let fixture = Fixture::csv(PEOPLE);
    process(&fixture, &[Outcome::Ok; 5]);
    let written = ["receipt.json", "result.json"];
    fixture.ports.files.set(move |operation, key| match operation {
        "open" | "next" => key == SOURCE_KEY,
        _ => operation == "write" && written.iter().any(|name| key.ends_with(name)),
    });
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert_eq!(fixture.report().len(), 2);
}

#[test]
fn a_job_without_items_completes() {
    let fixture = Fixture::csv("name\n");
    fixture.split(10, None);
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert_eq!(fixture.result().item_count, 0);
}

#[test]
fn a_job_with_more_failures_than_tolerated_fails_at_its_end() {
    let tolerance = Tolerance { max_failed: Some(1), ..Tolerance::default() };
    let fixture = Fixture::of_file(PEOPLE.as_bytes(), Format::Csv, tolerance);
    process(&fixture, &[Outcome::Fail, Outcome::Fail, Outcome::Ok, Outcome::Ok, Outcome::Ok]);
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Failed));
    assert_eq!(fixture.result().error.unwrap().code, "too_many_failures");
    assert_eq!(fixture.rows("failed.csv").len(), 2);
}

#[test]
fn json_lines_are_reported_unchanged() {
    let lines = "{\"a\":1,\"b\":[2,3]}\n{\"c\":\"=x\"}\n-7\n=oops\n";
    let fixture = Fixture::of_file(lines.as_bytes(), Format::JsonLines, Tolerance::default());
    process(&fixture, &[Outcome::Fail, Outcome::Skip, Outcome::Fail, Outcome::Fail]);
    fixture.complete().unwrap();
    assert_eq!(fixture.table("failed.csv").unwrap()[0], ["row", "item", "code", "field", "message"]);
    let rows = fixture.rows("failed.csv");
    let items: Vec<_> = rows.iter().map(|(n, cells)| (*n, cells[0].as_str())).collect();
    assert_eq!(items, [(1, "{\"a\":1,\"b\":[2,3]}"), (3, "-7"), (4, "'=oops")]);
    assert_eq!(fixture.rows("skipped.csv")[&2], ["{\"c\":\"=x\"}", "asked, \"politely\""]);
}

#[test]
fn a_job_without_a_file_reports_its_options() {
    let fixture = Fixture::of_options(json!({ "n": -1 }));
    let plans = fixture.split_options();
    CraftedWorker::new(&fixture, &plans[0]).work(&[Outcome::Fail]);
    fixture.roll_up();
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Completed));
    assert_eq!(fixture.rows("failed.csv")[&1], ["{\"n\":-1}", "bad", "", "'@1 is wrong"]);
}

#[test]
fn a_job_with_remaining_items_does_not_end() {
    let fixture = Fixture::csv(PEOPLE);
    fixture.split(10, None);
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::NothingToDo);
    assert!(fixture.report().is_empty());
}

#[test]
fn a_finished_job_is_not_changed() {
    let fixture = Fixture::csv(PEOPLE);
    process(&fixture, &[Outcome::Fail; 5]);
    fixture.complete().unwrap();
    let (job, report) = (fixture.job(), fixture.report());
    fixture.ports.files.set(|operation, key| panic!("{operation} {key}"));
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::AlreadyFinished);
    assert_eq!((fixture.job(), fixture.report()), (job, report));
}

#[test]
fn messages_of_another_generation_or_a_missing_job_have_no_effect() {
    let fixture = Fixture::csv(PEOPLE);
    process(&fixture, &[Outcome::Ok; 5]);
    let other = CompleteMessage { job_id: fixture.id, generation: 1, resend: 0, step: 0, tenant: None, failures: 0 };
    let absent =
        CompleteMessage { job_id: JobId::generate(), generation: 0, resend: 0, step: 0, tenant: None, failures: 0 };
    let (ports, deadline) = (&fixture.ports, Timestamp(i64::MAX));
    let completer = Completer { ports, stop_grace_ms: 0, deadline, part_bytes: 8 << 20, clock: Timestamp::now };
    assert_eq!(now(completer.complete(&other)).unwrap(), CompleteEnd::OtherGeneration);
    assert_eq!(now(completer.complete(&absent)).unwrap(), CompleteEnd::Absent);
    assert!(fixture.report().is_empty());
}
