//! Failed rows that are corrected in a spreadsheet and uploaded again. Validated files that are imported.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, end, finish, lines, own, stack, work};

/// Number of rows in the story below. Row n is `n,name n,n`, unless it is bad.
const ROWS: u64 = 600;

/// Content of row n.
fn row(n: u64) -> String {
    match n % 60 {
        // Not a number. In turn these rows are corrected, removed, or left unchanged.
        7..=9 => format!("{n},\"name; {n}\",many"),
        // No key.
        20 => format!(",=name {n},{n}"),
        // Too few cells.
        30 => format!("{n}"),
        _ => format!("{n},name {n},{n}"),
    }
}

fn schema() -> Value {
    json!({"properties": {"id": {}, "name": {}, "age": {"type": "integer"}}, "required": ["age"]})
}

/// The failures file of a job, as a spreadsheet reads it: header and rows.
fn failures(stack: &Stack, id: &str) -> Result<(csv::StringRecord, Vec<csv::StringRecord>)> {
    let link = stack.client.call("GET", &format!("/api/jobs/{id}/failures?format=csv"), &[], &[])?;
    let url = link.headers.get("location").with_context(|| format!("the response has no Location: {}", link.text()))?;
    let file = stack.client.get(url)?;
    let mut reader = csv::Reader::from_reader(&file.body[..]);
    Ok((reader.headers()?.clone(), reader.records().collect::<Result<_, _>>()?))
}

#[test]
fn only_failed_rows_that_were_corrected_in_a_spreadsheet_run_again() -> Story {
    let (stack, name) = (stack(), dataset("corrected"));
    let file = lines(std::iter::once("id,name,age".to_owned()).chain((1..=ROWS).map(row)));
    let options = json!({"dataset": name, "key": "id", "schema": schema()});
    let id = stack.client.start("import", "file.csv", &file, &options)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!(counts(&job), [ROWS - 50, 50, 0], "{job}");
    let (header, rows) = failures(stack, &id)?;
    assert_eq!(header.iter().collect::<Vec<_>>(), ["row", "id", "name", "age", "code", "field", "message"]);
    // The file has another order, another delimiter, no codes, an empty column, an empty row, a repeated row and an
    // unknown one.
    let mut corrected = "\u{feff}age;row;;name;id\r\n".to_owned();
    let mut expected = BTreeMap::new();
    for row in rows.iter().rev() {
        let (n, name) = (row[0].parse::<u64>()?, &row[2]);
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        match n % 60 {
            7 => corrected.push_str(&format!("{n};{n};;{quoted};{n}\r\n")),
            20 => corrected.push_str(&format!("{n};{n};;{quoted};{n}\r\n")),
            30 => corrected.push_str(&format!("{n};{n};;\"two\nlines\";{n}\r\n")),
            8 => corrected.push_str(&format!("many;{n};;{quoted};{n}\r\n")),
            _ => {}
        }
        if [7, 20, 30].contains(&(n % 60)) && n != 7 {
            let name = match n % 60 {
                7 => format!("name; {n}"),
                20 => format!("=name {n}"),
                _ => "two\nlines".to_owned(),
            };
            expected.insert(n.to_string(), json!({"id": n.to_string(), "name": name, "age": n}));
        }
    }
    corrected.push_str(";;;;\r\n7;7;;twice;7\r\n1;1;;no failed item;1\r\n");
    let upload = stack.client.upload("failed.csv", corrected.as_bytes())?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    // Thirty rows were corrected. One of them is repeated, so its correction does not count. Ten rows are still
    // invalid, and ten were removed.
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [ROWS - 21, 21, 0]), "{job}");
    let codes: Vec<_> = job["issues"].as_array().into_iter().flatten().map(|issue| issue["code"].as_str()).collect();
    assert_eq!(codes, [Some("corrected_rows_unknown"), Some("corrected_rows_repeated")], "{job}");
    let report = Report::read(&stack.client, &id)?;
    let failed: Vec<_> = report.failed.iter().map(|row| row.number).collect();
    let still_failed: Vec<_> = (1..=ROWS).filter(|n| *n == 7 || [8, 9].contains(&(n % 60))).collect();
    assert_eq!(failed, still_failed);
    for row in &report.failed {
        assert_eq!(row.cells, [row.number.to_string(), format!("name; {}", row.number), "many".to_owned()]);
        assert_eq!(row.report_cells[1], "age", "{row:?}");
    }
    let records = stack.client.records(&name)?;
    assert_eq!(records.len() as u64, ROWS - 21);
    for (key, record) in expected {
        assert_eq!(records.get(&key).map(|stored| &stored["record"]), Some(&record), "{key}");
    }
    // The remaining rows can be corrected later.
    let rest =
        format!("row,id,name,age\n{}", still_failed.iter().map(|n| format!("{n},{n},x,{n}\n")).collect::<String>());
    let upload = stack.client.upload("again.csv", rest.as_bytes())?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((counts(&job), &job["issues"], &job["attempts"]), ([ROWS, 0, 0], &json!([]), &json!(3)), "{job}");
    Ok(())
}

#[test]
fn json_lines_and_damaged_rows_can_be_corrected() -> Story {
    let stack = stack();
    let options = json!({"dataset": dataset("json"), "key": "id"});
    let id = stack.client.start("import", "people.jsonl", b"{\"id\":\"1\"}\n{\"id\":\n=no\n", &options)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!(counts(&job), [1, 2, 0], "{job}");
    let (header, rows) = failures(stack, &id)?;
    assert_eq!((header.get(1), rows[0].get(1), rows[1].get(1)), (Some("item"), Some("{\"id\":"), Some("'=no")));
    let upload = stack.client.upload("f.csv", b"row;item\n2;\"{\"\"id\"\": \"\"2\"\"}\"\n3;'=no\n")?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((counts(&job), &job["issues"]), ([2, 1, 0], &json!([])), "{job}");

    let options = json!({"dataset": dataset("damaged"), "key": "id"});
    let (file, reading) = (b"id,name\n1,Ann\n2,\xff\n3,\xff\n4,\"open", json!({ "encoding": "utf-8" }));
    let id = stack.client.start_reading("import", "people.csv", file, &reading, &options)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!(counts(&job), [1, 3, 0], "{job}");
    let file = "row,id,name\n2,2,Bob\n3,3,\u{fffd}\n4,4,closed\n";
    let upload = stack.client.upload("f.csv", file.as_bytes())?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!((counts(&job), &job["issues"][0]["code"]), ([3, 1, 0], &json!("corrected_rows_unchanged")), "{job}");
    Ok(())
}

#[test]
fn a_file_that_is_not_a_failures_file_of_the_job_is_refused_and_changes_nothing() -> Story {
    let stack = stack();
    let file = lines(["id,name", "1,Ann", ",Bob"]);
    let (job, _) = work(stack, "import", &file, &json!({"dataset": dataset("refused"), "key": "id"}))?;
    let id = job["jobId"].as_str().context("the job has no id")?;
    let missing = stack.client.create_upload("f.csv", 10, None)?;
    let missing = missing["fileGuid"].as_str().context("the upload has no id")?.to_owned();
    for (upload, expected) in [
        (stack.client.upload("f.csv", &file)?, "not_a_failures_file"),
        (stack.client.upload("f.csv", b"row,id\n2,2\n")?, "not_a_failures_file"),
        (stack.client.upload("f.csv", b"%PDF-1.7 a document")?, "not_a_failures_file"),
        (missing, "file_not_uploaded"),
        (id.to_owned(), "unknown_file"),
    ] {
        let answer = stack.client.retry(id, Some(&upload))?;
        assert_eq!((answer.status, answer.bad_field()), (422, format!("/fileGuid {expected}")), "{}", answer.text());
    }
    assert_eq!(stack.client.job(id)?, job);
    Ok(())
}

/// The file exists when the retry is accepted, and is missing when it is read.
#[test]
fn a_missing_corrected_file_fails_the_retry_and_no_failed_row_is_lost() -> Story {
    use longshore_domain::ids::FileGuid;
    use longshore_domain::job::{Reopen, Selection, SourceFile};
    use longshore_domain::ports::{JobStore, JobTransitions};
    use longshore_domain::timestamp::Timestamp;
    let Some(stack) = own() else { return Ok(()) };
    let file = lines(["id,name", "1,Ann", ",Bob", "3,Eve"]);
    let (job, _) = work(stack, "import", &file, &json!({"dataset": dataset("gone"), "key": "id"}))?;
    let id = job["jobId"].as_str().context("the job has no id")?.to_owned();
    let guid =
        FileGuid::parse(&stack.client.upload("f.csv", b"row,id,name\n2,2,Bob\n")?).context("the id is not a UUID")?;
    let store = stack.store()?;
    let upload = stack.run(store.upload(guid))?.context("the upload does not exist")?;
    let stored = stack.run(store.job(crate::shared::job_id(&id)?))?.context("the job does not exist")?;
    let source = stored.file().cloned().context("the job has no source")?;
    let gone = SourceFile { key: upload.key, etag: "\"gone\"".into(), ..source };
    let at = Timestamp::now();
    let selection = Selection::Corrected(gone);
    let reopen = Reopen { generation: 0, at, deadline_at: at.plus_seconds(600), selection, registration: None };
    stack.run(store.reopen(&stored, &reopen))?;
    let (job, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), job["error"]["code"].as_str()), (Some("failed"), Some("corrected_file_gone")));
    assert_eq!((counts(&job), report.unprocessed.len()), ([2, 0, 0], 1), "{job}");
    let upload = stack.client.upload("f.csv", b"row,id,name\n2,2,Bob\n")?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    assert_eq!(counts(&job), [3, 0, 0], "{job}");
    Ok(())
}

#[test]
fn a_validated_file_is_imported_once_without_another_upload() -> Story {
    let (stack, name) = (stack(), dataset("checked"));
    let file = lines(["id,name", "1,Ann", ",Bob", "3,Eve"]);
    let options = json!({"dataset": name, "key": "id", "mode": "validate"});
    let (validated, _) = work(stack, "import", &file, &options)?;
    let id = validated["jobId"].as_str().context("the job has no id")?.to_owned();
    assert_eq!(
        (counts(&validated), &validated["links"]["start"]),
        ([2, 1, 0], &json!(format!("/api/jobs/{id}/start")))
    );
    ensure!(stack.client.records(&name)?.is_empty(), "the validation has written records");
    let answers: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| stack.client.start_import(&id))).collect();
        calls
            .into_iter()
            .map(|call| call.join().map_err(|_| anyhow::anyhow!("a call panicked"))?)
            .collect::<Result<_>>()
    })?;
    let import = answers[0].clone().expect(202)?["jobId"].as_str().context("the job has no id")?.to_owned();
    for answer in &answers {
        assert_eq!(answer.clone().expect(202)?["jobId"], import.as_str());
    }
    let (job, _) = finish(stack, &import, &file)?;
    assert_eq!((counts(&job), &job["startedFrom"]), ([2, 1, 0], &json!(id)), "{job}");
    assert_eq!(stack.client.records(&name)?.len(), 2);
    let after = stack.client.job(&id)?;
    assert_eq!(
        (&after["status"], &after["startedAs"], &after["links"]["start"]),
        (&json!("completed"), &json!(import), &json!(null))
    );
    assert_eq!(stack.client.start_import(&id)?.expect(202)?["jobId"], import.as_str(), "after the import");
    // The import uses the same file.
    assert_eq!(stack.client.delete(&id)?.status, 204);
    assert_eq!(stack.client.start_import(&id)?.status, 404);
    stack.client.retry(&import, None)?.expect(202)?;
    assert_eq!(counts(&finish(stack, &import, &file)?.0), [2, 1, 0]);
    Ok(())
}

#[test]
fn a_validated_file_that_is_missing_is_not_imported() -> Story {
    use longshore_domain::ports::{Files, JobStore};
    let Some(stack) = own() else { return Ok(()) };
    let file = lines(["id,name", "1,Ann"]);
    let (job, _) =
        work(stack, "import", &file, &json!({"dataset": dataset("no-file"), "key": "id", "mode": "validate"}))?;
    let id = job["jobId"].as_str().context("the job has no id")?;
    let stored = stack.run(stack.store()?.job(crate::shared::job_id(id)?))?.context("the job does not exist")?;
    stack.run(stack.files()?.remove(&stored.file().context("the job has no source")?.key))?;
    let answer = stack.client.start_import(id)?.expect(409)?;
    ensure!(answer["type"].as_str().is_some_and(|kind| kind.ends_with("file-gone")), "{answer}");
    Ok(())
}

/// Cancel and retry are sent concurrently, in several rounds. The job is always in a state that both responses explain,
/// and finally every row is counted and reported once.
#[test]
fn a_concurrent_cancel_and_retry_are_serialized() -> Story {
    const JOBS: usize = 4;
    const ROUNDS: usize = 15;
    let Some(stack) = own() else { return Ok(()) };
    let (mut both, mut canceled) = (0, 0);
    for _ in 0..JOBS {
        let file = crate::shared::probe_file((1..=60).map(|n| if n % 6 == 0 { "reject,,," } else { "ok,3,," }));
        let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
        let mut attempts = 1;
        for round in 0..ROUNDS {
            // In some rounds the job is running; in others it has ended.
            if round % 3 == 0 {
                end(Watch::new(stack, &id), stack, &id, &file)?;
            }
            let (cancel, retry) = std::thread::scope(|scope| {
                let cancel = scope.spawn(|| stack.client.cancel(&id));
                let retry = stack.client.retry(&id, None);
                (cancel.join().map_err(|_| anyhow::anyhow!("a call panicked")), retry)
            });
            let (cancel, retry) = (cancel??, retry?);
            ensure!(
                [202, 409].contains(&cancel.status) && [202, 409].contains(&retry.status),
                "{}\n{}",
                cancel.text(),
                retry.text()
            );
            attempts += u64::from(retry.status == 202);
            both += usize::from(cancel.status == 202 && retry.status == 202);
            canceled += usize::from(cancel.status == 202);
            ensure!(stack.client.job(&id)?["attempts"] == attempts, "{attempts} attempts: {}", stack.client.job(&id)?);
            if cancel.status == 202 {
                let (job, _) = end(Watch::new(stack, &id), stack, &id, &file)?;
                ensure!(["canceled", "completed"].contains(&job["status"].as_str().unwrap_or_default()), "{job}");
            }
        }
        let (job, _) = end(Watch::new(stack, &id), stack, &id, &file)?;
        if job["status"] == "canceled" && job["counts"]["pending"] != 0 {
            stack.client.retry(&id, None)?.expect(202)?;
        }
        let (job, report) = end(Watch::new(stack, &id), stack, &id, &file)?;
        assert_eq!(counts(&job), [50, 10, 0], "{job}");
        let failed: Vec<_> = report.failed.iter().map(|row| row.number).collect();
        assert_eq!(failed, (1..=10).map(|n| n * 6).collect::<Vec<_>>());
    }
    eprintln!("{canceled} of {} rounds were canceled; in {both} of them the retry was accepted, too", JOBS * ROUNDS);
    Ok(())
}
