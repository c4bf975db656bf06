//! Successful imports, and imports with failing rows.
//!
//! Rows that fail, are retried, panic or kill their worker: each is accounted for, and only a fatal one stops the
//! others.
//!
//! Job types outside the library: the example crate, and a job type without a file.

use anyhow::ensure;
use longshore_domain::ports::Queues;
use longshore_tests::harness::backdoor::chunk_messages;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Marks, Story, counts, dataset, end, error_code, lines, own, probe_file, stack, work};

/// A file with a byte order mark, CRLF and LF, quotes, doubled quotes, line breaks in cells, blank lines, empty cells,
/// and no line end at the end.
const AWKWARD: &str = "\u{feff}id,name,note\r\n1,\"Ann, \"\"the\"\" first\",plain\r\n\r\n2,Böb,\"two\r\nlines\"\n\n\n\
                       3,,\"\"\r\n4,\"=1+1\",\"\n\"\n5,last,no line end";

#[test]
fn a_file_with_every_oddity_of_csv_is_imported() -> Story {
    let (stack, options) = (stack(), json!({ "dataset": dataset("awkward"), "key": "id" }));
    let (job, report) = work(stack, "import", AWKWARD.as_bytes(), &options)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [5, 0, 0]), "{job}");
    assert_eq!((job["itemCount"].as_u64(), job["percent"].as_u64()), (Some(5), Some(100)));
    assert_eq!(job["message"], "Job complete");
    assert!(report.failed.is_empty() && report.skipped.is_empty() && report.unprocessed.is_empty());
    let records = stack.client.records(&dataset("awkward"))?;
    let expected = [
        ("1", json!({ "id": "1", "name": "Ann, \"the\" first", "note": "plain" })),
        ("2", json!({ "id": "2", "name": "Böb", "note": "two\r\nlines" })),
        ("3", json!({ "id": "3" })),
        ("4", json!({ "id": "4", "name": "=1+1", "note": "\n" })),
        ("5", json!({ "id": "5", "name": "last", "note": "no line end" })),
    ];
    assert_eq!(records.len(), expected.len());
    for (key, record) in expected {
        assert_eq!(records[key]["record"], record, "record {key}");
    }
    Ok(())
}

#[test]
fn json_lines_are_imported_and_invalid_lines_fail_alone() -> Story {
    let stack = stack();
    let file =
        "{\"id\": 1, \"tags\": [\"a\", {\"b\": null}]}\n\n{\"id\": 2,\n[3]\n{\"name\": \"no key\"}\n{\"id\": \"5\"}";
    let options = json!({ "dataset": dataset("json-lines"), "key": "id" });
    let id = stack.client.start("import", "people.jsonl", file.as_bytes(), &options)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 3, 0]), "{job}");
    let report = Report::read(&stack.client, &id)?;
    let rows = file.lines().filter(|line| !line.is_empty()).map(|line| vec![line.to_owned()]);
    report.partitions(&rows.collect::<Vec<_>>())?;
    let codes: Vec<_> = report.codes().into_iter().collect();
    let codes: Vec<_> = codes.iter().map(|(number, code)| (*number, code.as_str())).collect();
    assert_eq!(codes, [(2, "malformed_json"), (3, "not_an_object"), (4, "missing_key")]);
    let records = stack.client.records(&dataset("json-lines"))?;
    assert_eq!(records.keys().collect::<Vec<_>>(), ["1", "5"]);
    assert_eq!(records["1"]["record"], json!({ "id": 1, "tags": ["a", { "b": null }] }));
    Ok(())
}

#[test]
fn a_deleted_record_is_gone_until_an_import_writes_its_key_again() -> Story {
    let (stack, name) = (stack(), dataset("deleted-record"));
    let options = json!({ "dataset": name, "key": "id", "mode": "insert" });
    let file = lines(["id,name", "a/b?c%2F&d+ü #,Ann", "2,Bob"]);
    let (job, _) = work(stack, "import", &file, &options)?;
    assert_eq!(counts(&job), [2, 0, 0], "{job}");
    let keys = || -> anyhow::Result<Vec<String>> { Ok(stack.client.records(&name)?.into_keys().collect()) };
    assert_eq!(keys()?, ["2", "a/b?c%2F&d+ü #"]);
    let record = format!("/api/datasets/{name}/records?key=a%2Fb%3Fc%252F%26d%2B%C3%BC+%23");
    for _ in 0..2 {
        stack.client.call("DELETE", &record, &[], &[])?.expect(204)?;
        assert_eq!(keys()?, ["2"]);
    }
    let (job, report) = work(stack, "import", &file, &options)?;
    assert_eq!(counts(&job), [1, 1, 0], "{job}");
    assert_eq!(report.codes()[&2], "duplicate_key");
    assert_eq!(keys()?, ["2", "a/b?c%2F&d+ü #"]);
    Ok(())
}

fn people_schema() -> Value {
    json!({
        "properties": {
            "id": { "type": "integer", "minimum": 1 },
            "email": { "type": "string", "pattern": "@" },
            "member": { "type": "boolean" },
        },
        "required": ["email"],
    })
}

/// Rows 2 to 5, each with a different error.
const PEOPLE: [&str; 7] =
    ["id,email,member", "1,a@x,true", "x,b@x,false", "0,c@x,false", "4,nowhere,false", "5,,false", "6,f@x,"];

#[test]
fn rows_that_violate_a_schema_fail_with_code_field_and_message() -> Story {
    let options = json!({ "dataset": dataset("people"), "key": "id", "schema": people_schema() });
    let (job, report) = work(stack(), "import", &lines(PEOPLE), &options)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 4, 0]), "{job}");
    let failures = report.failures();
    let failures: Vec<_> = failures.iter().map(|(n, (code, field))| (*n, code.as_str(), field.as_str())).collect();
    assert_eq!(
        failures,
        [
            (2, "schema_type", "id"),
            (3, "schema_minimum", "id"),
            (4, "schema_pattern", "email"),
            (5, "schema_required", "email"),
        ]
    );
    assert_eq!(report.failed[0].report_cells[2], r#"id is "x"; it must be an integer"#);
    let records = stack().client.records(&dataset("people"))?;
    assert_eq!(records["1"]["record"], json!({ "id": 1, "email": "a@x", "member": true }));
    assert_eq!(records.len(), 2);
    Ok(())
}

#[test]
fn validate_writes_nothing_and_has_the_same_report_as_an_import() -> Story {
    let options =
        |mode: &str| json!({ "dataset": dataset("validated"), "key": "id", "mode": mode, "schema": people_schema() });
    let (_, validated) = work(stack(), "import", &lines(PEOPLE), &options("validate"))?;
    assert!(stack().client.records(&dataset("validated"))?.is_empty());
    let (_, imported) = work(stack(), "import", &lines(PEOPLE), &options("upsert"))?;
    assert_eq!(validated.failed, imported.failed);
    assert_eq!(validated.document["counts"], imported.document["counts"]);
    Ok(())
}

#[test]
fn inserting_a_file_twice_fails_every_row_as_a_duplicate_and_a_redelivery_fails_none() -> Story {
    let stack = stack();
    let file = lines(["id,n".to_owned()].into_iter().chain((1..=60).map(|n| format!("k{n},{n}"))));
    let options = json!({ "dataset": dataset("inserted"), "key": "id", "mode": "insert" });
    let id = stack.client.start("import", "file.csv", &file, &options)?;
    let first = Watch::new(stack, &id).end()?;
    assert_eq!(counts(&first), [60, 0, 0], "{first}");
    // The messages of the ended job again: its rows must not count as duplicates of themselves.
    stack.run(stack.queues()?.send_chunks(&chunk_messages(stack, &id)?, 0))?;
    let (second, report) = work(stack, "import", &file, &options)?;
    assert_eq!((second["status"].as_str(), counts(&second)), (Some("completed"), [0, 60, 0]), "{second}");
    ensure!(report.codes().values().all(|code| code == "duplicate_key"), "{:?}", report.codes());
    assert_eq!(Watch::new(stack, &id).end()?, first);
    Ok(())
}

#[test]
fn in_upsert_the_later_of_two_rows_with_one_key_wins_across_chunks() -> Story {
    // About 300 KB: several chunks, which four workers process concurrently.
    let filler = "x".repeat(80);
    let row = |n: u32| format!("{},{n},{filler}", if n % 1000 == 1 { "same".to_owned() } else { format!("k{n}") });
    let file = lines(["id,n,filler".to_owned()].into_iter().chain((1..=3_001).map(row)));
    let (job, _) = work(stack(), "import", &file, &json!({ "dataset": dataset("later-wins"), "key": "id" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3_001, 0, 0]), "{job}");
    let records = stack().client.records(&dataset("later-wins"))?;
    assert_eq!(records.len(), 2_998);
    assert_eq!(records["same"]["record"]["n"], "3001");
    Ok(())
}

#[test]
fn only_rows_with_transient_errors_are_retried() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Transient errors in no, one and two rounds, and in more than the probe's two retries.
    let file = probe_file(["ok,,", "retry,,1", "retry,,2", "retry,,9", "reject,,"].map(|row| format!("{row},{mark}")));
    let (job, report) = work(stack, "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3, 2, 0]), "{job}");
    let codes: Vec<_> = report.codes().into_iter().collect();
    assert_eq!(codes, [(4, "retries_exhausted".to_owned()), (5, "asked_to".to_owned())]);
    assert_eq!(marks.calls(5)?, [1, 2, 3, 3, 1]);
    Ok(())
}

#[test]
fn a_row_that_makes_the_handler_panic_fails_alone() -> Story {
    let file = probe_file((1..=40).map(|n| if n == 21 { "panic,,," } else { "ok,,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [39, 1, 0]), "{job}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), [(21, "handler_panicked".to_owned())]);
    Ok(())
}

#[test]
fn a_chunk_that_kills_its_workers_is_dead_lettered_and_the_job_ends() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    // Rows 51 to 100 are the second chunk. Its worker aborts at row 60, at every delivery.
    let file = probe_file((1..=130).map(|n| if n == 60 { "abort,,," } else { "ok,,," }));
    let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (job, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [80, 50, 0]), "{job}");
    let codes = report.codes();
    ensure!(codes.keys().copied().eq(51..=100), "the failed rows are not those of the chunk: {codes:?}");
    ensure!(codes.values().all(|code| code == "dead_lettered"), "{codes:?}");
    let dead_letters = stack.peek("ChunkDlqUrl")?;
    ensure!(
        dead_letters.iter().any(|dead_letter| dead_letter.contains(&id)),
        "the message is not in the dead-letter queue"
    );
    Ok(())
}

#[test]
fn a_job_stops_when_more_rows_fail_than_it_tolerates() -> Story {
    // The rows are slow enough that the other chunks are not done when the third failure is committed.
    let file = probe_file((1..=400).map(|n| if n <= 3 { "reject,,," } else { "ok,100,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({ "maxFailed": 2 }))?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "too_many_failures"), "{job}");
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    assert_eq!(report.failed.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2, 3]);
    Ok(())
}

#[test]
fn a_tolerance_in_percent_that_is_exceeded_only_at_the_end_fails_the_job() -> Story {
    let file = probe_file((1..=10).map(|n| if n <= 2 { "reject,,," } else { "ok,,," }));
    let (tolerant, _) = work(stack(), "probe", &file, &json!({ "maxFailedPercent": 20 }))?;
    assert_eq!(tolerant["status"], "completed");
    let (strict, report) = work(stack(), "probe", &file, &json!({ "maxFailedPercent": 19.5 }))?;
    assert_eq!((strict["status"].as_str(), error_code(&strict)), (Some("failed"), "too_many_failures"), "{strict}");
    assert_eq!((counts(&strict), report.unprocessed.len()), ([8, 2, 0], 0));
    Ok(())
}

#[test]
fn a_fatal_row_stops_the_job_and_is_reported_as_failed() -> Story {
    let file = probe_file((1..=300).map(|n| if n == 5 { "fatal,,," } else { "ok,100,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "asked_to_stop"), "{job}");
    ensure!(report.codes().get(&5).is_some_and(|code| code == "asked_to_stop"), "{:?}", report.codes());
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    Ok(())
}

#[test]
fn a_job_past_its_time_limit_is_stopped_with_exact_counts() -> Story {
    let stack = stack();
    let file = probe_file((1..=400).map(|_| "ok,250,,"));
    let id = stack.client.start("probe-brief", "file.csv", &file, &json!({}))?;
    let (job, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), error_code(&job)), (Some("failed"), "time_limit"), "{job}");
    ensure!(!report.unprocessed.is_empty(), "every row was processed");
    Ok(())
}

#[test]
fn the_example_job_type_runs_on_the_stack() -> Story {
    let file = lines(["name,email", "Ann,ann@example.org", ",nobody@example.org", "Bob,bob", "Cy,cy@example.org"]);
    let (job, report) = work(stack(), "invite", &file, &json!({ "event": "the launch" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 1, 1]), "{job}");
    assert_eq!(report.failures()[&3], ("bad_email".to_owned(), "email".to_owned()));
    assert_eq!(report.skipped[0].report_cells, ["the name is empty"]);
    Ok(())
}

#[test]
fn a_job_without_a_file_is_one_item() -> Story {
    let stack = stack();
    for (action, expected) in [("ok", [1, 0, 0]), ("reject", [0, 1, 0]), ("skip", [0, 0, 1])] {
        let options = json!({ "action": action });
        let accepted = stack.client.request_job("probe-once", None, &options)?.expect(202)?;
        let id = accepted["jobId"].as_str().unwrap_or_default();
        let job = Watch::new(stack, id).end()?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), expected), "{job}");
        Report::read(&stack.client, id)?.partitions(&[vec![options.to_string()]])?;
    }
    Ok(())
}
