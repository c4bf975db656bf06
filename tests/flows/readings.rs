//! CSV files as spreadsheet programs and banks write them: what is found in them, and what is given.

use anyhow::ensure;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, error_code, stack};
use crate::undos::undo;

/// In windows-1252, with semicolons, titles, rows without text and two columns of one name.
const GERMAN: &[u8] = b"Kunden 2026;;;\r\n\r\nid;Name;Ort;Ort\r\n1;M\xfcller;\"K\xf6ln; S\xfcd\";a\r\n;;;\r\n\
    2;J\xe4ger;D\xfcren, Mitte;b\r\n;Ohne;X;c\r\n3;caf\x81;Y;d\r\n4;Gro\xdf;\"5,00 \x80\";e\r\n";

/// Returns the record of a key.
fn record(options: &Value, key: &str) -> anyhow::Result<Value> {
    let records = stack().client.records(options["dataset"].as_str().unwrap_or_default())?;
    Ok(records.get(key).map(|stored| stored["record"].clone()).unwrap_or_default())
}

#[test]
fn a_german_file_is_imported_and_its_failed_rows_are_corrected() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("german"), "key": "id" });
    let id = stack.client.start("import", "kunden.csv", GERMAN, &options)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [3, 2, 0], "{job}");
    let expected = json!({ "encoding": "windows-1252", "delimiter": ";", "quote": "\"", "headerRow": 2 });
    assert_eq!(job["source"]["reading"], expected, "{job}");
    let codes: Vec<_> = job["issues"].as_array().into_iter().flatten().map(|issue| issue["code"].clone()).collect();
    assert_eq!(codes, ["encoding_guessed", "rows_above_header", "repeated_column"], "{job}");
    assert_eq!(
        record(&options, "1")?,
        json!({ "id": "1", "Name": "M\u{fc}ller", "Ort": "K\u{f6}ln; S\u{fc}d", "Ort_2": "a" })
    );
    assert_eq!(record(&options, "4")?, json!({ "id": "4", "Name": "Gro\u{df}", "Ort": "5,00 \u{20ac}", "Ort_2": "e" }));
    let failed = Report::read(&stack.client, &id)?.failed;
    let codes: Vec<_> = failed.iter().map(|row| (row.number, row.report_cells[0].as_str())).collect();
    assert_eq!(codes, [(3, "missing_key"), (4, "not_utf8")]);
    assert_eq!(failed[0].cells, ["", "Ohne", "X", "c"]);
    assert_eq!(failed[1].cells, ["3", "caf\u{fffd}", "Y", "d"]);
    // The rows are corrected with the delimiter of the spreadsheet program, in UTF-8.
    let corrected = "row;id;Name;Ort;Ort_2\r\n3;7;Ohne;X;c\r\n4;3;caf\u{e9};Y;d\r\n";
    let upload = stack.client.upload("failed.csv", corrected.as_bytes())?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [5, 0, 0], "{job}");
    assert_eq!(record(&options, "3")?, json!({ "id": "3", "Name": "caf\u{e9}", "Ort": "Y", "Ort_2": "d" }));
    Ok(())
}

#[test]
fn what_is_given_is_read_and_nothing_is_guessed() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("given"), "key": "column_1" });
    let file = b"# a comment\n1|x;y\n2|'z|w'\n";
    let reading = json!({ "delimiter": "|", "quote": "'", "headerRow": 0, "comment": "#" });
    let id = stack.client.start_reading("import", "file.txt", file, &reading, &options)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [2, 0, 0], "{job}");
    assert_eq!(record(&options, "2")?, json!({ "column_1": "2", "column_2": "z|w" }));
    // The name says CSV.
    let lines = b"{\"column_1\":\"3\"}\n";
    let id = stack.client.start_reading("import", "lines.csv", lines, &json!({ "format": "jsonl" }), &options)?;
    ensure!(counts(&Watch::new(stack, &id).end()?) == [1, 0, 0], "the lines are not read");
    Ok(())
}

#[test]
fn a_row_that_cannot_be_the_header_fails_the_job() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("no-header"), "key": "id", "mode": "validate" });
    let start = |reading: Value| stack.client.start_reading("import", "f.csv", b"id;a\n1;\xfc\n", &reading, &options);
    for (reading, code) in [
        (json!({ "headerRow": 3 }), "header_missing"),
        (json!({ "headerRow": 2, "encoding": "utf-8" }), "file_not_utf8"),
        (json!({ "headerRow": 2, "encoding": "shift_jis" }), "wrong_encoding"),
    ] {
        let job = Watch::new(stack, &start(reading.clone())?).end()?;
        ensure!(job["status"] == "failed" && error_code(&job) == code, "{reading}: {job}");
    }
    Ok(())
}

#[test]
fn columns_and_values_are_read_as_the_first_rows_show() -> Story {
    let stack = stack();
    let options = json!({ "dataset": dataset("values"), "key": "id", "trim": true,
        "columns": { "Kd-Nr": "id", "Preis": "price", "Seit": "since", "Aktiv": "active", "Notiz": null },
        "values": { "active": { "J": true, "N": false } },
        "schema": { "required": ["price"], "properties": { "id": { "type": "integer" }, "price": { "type": "number" },
            "since": { "type": "string", "format": "date" }, "active": { "type": "boolean" } } } });
    let file = "Kd-Nr;Preis;Seit;Aktiv;Notiz\n1.001;1.234,50;13.2.2024;ja;x\n1.002; 7 ;1.3.2024;N;y\n1.003;offen;1.3.2024;J;z\n";
    let mut checked = options.clone();
    checked["mode"] = json!("validate");
    let id = stack.client.start("import", "preise.csv", file.as_bytes(), &checked)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [2, 1, 0], "{job}");
    assert_eq!(job["issues"][0]["code"], "notations_found", "{job}");
    let failed = Report::read(&stack.client, &id)?.failed;
    assert_eq!((failed[0].number, &failed[0].report_cells[..2]), (3, &["schema_type".into(), "Preis".into()][..]));
    // The import that is started uses what the check has detected.
    let started = stack.client.start_import(&id)?.expect(202)?;
    let id = started["jobId"].as_str().unwrap_or_default().to_owned();
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [2, 1, 0], "{job}");
    let expected = json!({ "id": 1001, "price": 1234.5, "since": "2024-02-13", "active": true });
    assert_eq!(record(&options, "1001")?, expected);
    let expected = json!({ "id": 1002, "price": 7, "since": "2024-03-01", "active": false });
    assert_eq!(record(&options, "1002")?, expected);
    let corrected = "row;Kd-Nr;Preis;Seit;Aktiv;Notiz\r\n3;1.003;1,5;1.3.2024;J;z\r\n";
    let upload = stack.client.upload("failed.csv", corrected.as_bytes())?;
    stack.client.retry(&id, Some(&upload))?.expect(202)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [3, 0, 0], "{job}");
    assert_eq!(record(&options, "1003")?["price"], 1.5);
    // The undo reads the keys in the same way. Its items are the rows of the file, and the corrected one.
    let undone = Watch::new(stack, &undo(stack, &id)?).end()?;
    ensure!(undone["status"] == "completed" && counts(&undone) == [4, 0, 0], "{undone}");
    ensure!(stack.client.records(options["dataset"].as_str().unwrap_or_default())?.is_empty(), "a record is left");
    Ok(())
}

#[test]
fn a_column_with_two_readings_is_asked_before_anything_is_written() -> Story {
    let stack = stack();
    let schema = json!({ "properties": { "price": { "type": "number" }, "on": { "type": "string", "format": "date" },
            "at": { "type": "string", "format": "date-time" } } });
    let options = json!({ "dataset": dataset("asked"), "key": "id", "schema": schema });
    let start = |file: &str, more: Value| {
        let mut options = options.clone();
        options.as_object_mut().into_iter().zip(more.as_object()).for_each(|(all, more)| all.extend(more.clone()));
        stack.client.start("import", "file.csv", file.as_bytes(), &options)
    };
    for (file, code) in [
        ("id,price\n1,1.234\n", "ambiguous_column"),
        ("id,on\n1,1/2/2024\n", "ambiguous_column"),
        ("id;price\n1;1.5\n2;1,5\n", "conflicting_column"),
        ("id,on\n1,13/2/24\n", "pivot_year_missing"),
        ("id,at\n1,13/2/2024 18:30\n", "time_zone_missing"),
    ] {
        let job = Watch::new(stack, &start(file, json!({}))?).end()?;
        ensure!(job["status"] == "failed" && error_code(&job) == code && counts(&job) == [0, 0, 0], "{file}: {job}");
    }
    ensure!(stack.client.records(options["dataset"].as_str().unwrap_or_default())?.is_empty(), "a row was written");
    let given = json!({ "decimalSeparator": ".", "notations": { "on": { "dateOrder": "mdy", "pivotYear": 1950 } } });
    let job = Watch::new(stack, &start("id,price,on\n1,1.234,1/2/24\n", given)?).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [1, 0, 0], "{job}");
    assert_eq!(record(&options, "1")?, json!({ "id": "1", "price": 1.234, "on": "2024-01-02" }));
    let job = Watch::new(stack, &start("id,at\n2,13.2.2024 18:30\n", json!({ "timeZone": "Europe/Berlin" }))?).end()?;
    ensure!(job["status"] == "completed" && counts(&job) == [1, 0, 0], "{job}");
    assert_eq!(record(&options, "2")?, json!({ "id": "2", "at": "2024-02-13T18:30:00+01:00" }));
    Ok(())
}
