//! Successful imports, and imports with failing rows.

use anyhow::ensure;
use longshore_domain::ports::Queues;
use longshore_tests::harness::crafted::chunk_messages;
use longshore_tests::harness::report::Report;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, lines, stack, work};

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
