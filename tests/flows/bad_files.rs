//! Unreadable files: the job fails with a code and a message. Files without rows: the job completes.
//!
//! Invalid rows in a valid file: each fails alone, and the others are imported.

use anyhow::ensure;
use longshore_tests::harness::watch::{Report, Watch};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, error_code, lines, stack, work};

fn options() -> Value {
    json!({ "dataset": dataset("bad-files"), "key": "id", "mode": "validate" })
}

/// UTF-16 without a byte order mark. With one, the file is converted.
fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn an_unreadable_file_fails_the_job_with_a_code_and_a_message() -> Story {
    let wide: String = (0..60_000).map(|n| format!("column{n},")).collect();
    let table: [(&str, Vec<u8>, &str); 12] = [
        ("only a line end", b"\r\n".to_vec(), "file_empty"),
        ("only blank lines", "\n".repeat(1_000_000).into_bytes(), "file_empty"),
        ("only a byte order mark", "\u{feff}".into(), "file_empty"),
        ("UTF-16 without a mark", utf16("id,name\n1,Ann\n"), "file_not_utf8"),
        ("a zip archive", b"PK\x03\x04\x14\x00\x00\x00\x08\x00rest".to_vec(), "archive_damaged"),
        ("a gzip archive", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03rest".to_vec(), "archive_damaged"),
        ("a program", b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00".to_vec(), "file_binary"),
        ("a quote that opens in the header", b"id,\"name\n1,Ann\n2,Bob\n".to_vec(), "unterminated_quote"),
        ("a header of half a megabyte", format!("id,{wide}\n1\n").into_bytes(), "header_too_long"),
        ("two delimiters that fit", b"id;a,b\nx;y,z\n".to_vec(), "ambiguous_delimiter"),
        ("a delimiter that is not supported", b"sep=^\nid^a\n1^2\n".to_vec(), "unsupported_delimiter"),
        ("no key column", b"ID,name\n1,Ann\n".to_vec(), "key_not_in_header"),
    ];
    let stack = stack();
    let mut jobs = Vec::new();
    for (name, bytes, code) in &table {
        jobs.push((name, code, stack.client.start("import", "file.csv", bytes, &options())?));
    }
    for (name, code, id) in jobs {
        let job = Watch::new(stack, &id).end()?;
        ensure!(job["status"] == "failed" && error_code(&job) == *code, "{name}: expected {code}: {job}");
        let message = job["error"]["message"].as_str().unwrap_or_default();
        ensure!(message.split_whitespace().count() > 5, "{name}: the message is no sentence: {message:?}");
        assert_eq!((counts(&job), job["itemCount"].as_u64()), ([0, 0, 0], Some(0)), "{name}");
        // A failed job has a result, too.
        Report::read(&stack.client, &id)?;
    }
    Ok(())
}

#[test]
fn a_file_with_a_header_and_no_rows_completes_with_no_items() -> Story {
    let stack = stack();
    // Blank lines are not rows.
    for file in ["id,name\n".to_owned(), "id,name".to_owned(), format!("id,name\n{}", "\n".repeat(1_000_000))] {
        let id = stack.client.start("import", "file.csv", file.as_bytes(), &options())?;
        let job = Watch::new(stack, &id).end()?;
        assert_eq!((job["status"].as_str(), job["itemCount"].as_u64()), (Some("completed"), Some(0)), "{job}");
        assert_eq!(job["issues"][0]["code"], "no_rows", "{job}");
        Report::read(&stack.client, &id)?.partitions(&[])?;
    }
    Ok(())
}

fn import_into(name: &str) -> Value {
    json!({ "dataset": dataset(name), "key": "id" })
}

/// Number and code of each failed row, and the number of succeeded rows.
type Rows = (Vec<(u64, String)>, u64);

fn import(file: &[u8], options: &Value) -> anyhow::Result<Rows> {
    let stack = stack();
    let id = stack.client.start_reading("import", "file.csv", file, &json!({ "encoding": "utf-8" }), options)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed", "{job}");
    let report = Report::read(&stack.client, &id)?;
    let [succeeded, failed, _] = counts(&job);
    ensure!(failed == report.failed.len() as u64, "{job}");
    Ok((report.codes().into_iter().collect(), succeeded))
}

fn owned(codes: &[(u64, &str)]) -> Vec<(u64, String)> {
    codes.iter().map(|(number, code)| (*number, (*code).to_owned())).collect()
}

/// Description, file, failed rows, and number of succeeded rows.
type Case = (&'static str, Vec<u8>, &'static [(u64, &'static str)], u64);

#[test]
fn a_bad_row_fails_alone() -> Story {
    let table: [Case; 6] = [
        (
            "too few and too many cells",
            lines(["id,a,b", "1,x,y", "2,x", "3,x,y,z", "4,,"]),
            &[(2, "too_few_cells"), (3, "too_many_cells")],
            2,
        ),
        ("a Latin-1 row", b"id,a\n1,x\n2,\xE4\n3,z\n".to_vec(), &[(2, "not_utf8")], 2),
        ("a quote that is never closed", b"id,a\n1,x\n2,\"y\n3,z\n".to_vec(), &[(2, "unterminated_quote")], 1),
        ("no key", lines(["id,a", ",x", "2,y"]), &[(1, "missing_key")], 1),
        ("a key of 2,000 bytes", format!("id,a\n{},x\n2,y\n", "k".repeat(2_000)).into(), &[(1, "key_too_long")], 1),
        ("a record of 500 KB", format!("id,a\n1,{}\n2,y\n", "x".repeat(500_000)).into(), &[(1, "record_too_large")], 1),
    ];
    for (name, file, failed, succeeded) in table {
        assert_eq!(import(&file, &import_into("bad-rows"))?, (owned(failed), succeeded), "{name}");
    }
    Ok(())
}

#[test]
fn a_row_of_seventeen_megabytes_fails_alone() -> Story {
    let mut file = b"id,a\n1,x\n2,".to_vec();
    file.resize(file.len() + (17 << 20), b'y');
    file.extend(b"\n3,z\n");
    assert_eq!(import(&file, &import_into("long-row"))?, (owned(&[(2, "row_too_long")]), 2));
    assert_eq!(stack().client.records(&dataset("long-row"))?.keys().collect::<Vec<_>>(), ["1", "3"]);
    Ok(())
}

#[test]
fn duplicate_keys_in_a_file_fail_with_insert_and_not_with_upsert() -> Story {
    let file = lines(["id,a", "1,first", "2,x", "1,last", "1,last"]);
    let (job, _) = work(stack(), "import", &file, &import_into("twice-upsert"))?;
    assert_eq!(counts(&job), [4, 0, 0], "{job}");
    assert_eq!(stack().client.records(&dataset("twice-upsert"))?["1"]["record"]["a"], "last");
    let (job, report) =
        work(stack(), "import", &file, &json!({ "dataset": dataset("twice-insert"), "key": "id", "mode": "insert" }))?;
    assert_eq!(counts(&job), [2, 2, 0], "{job}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), owned(&[(3, "duplicate_key"), (4, "duplicate_key")]));
    assert_eq!(stack().client.records(&dataset("twice-insert"))?["1"]["record"]["a"], "first");
    Ok(())
}

#[test]
fn five_thousand_columns_are_imported() -> Story {
    let header: Vec<_> = (0..5_000).map(|n| format!("c{n}")).collect();
    let row = |n: u32| {
        (0..5_000).map(|c| if c == 0 { format!("k{n}") } else { (c % 7).to_string() }).collect::<Vec<_>>().join(",")
    };
    let file = lines([header.join(","), row(1), row(2)]);
    let (job, _) = work(stack(), "import", &file, &json!({ "dataset": dataset("wide"), "key": "c0" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 0, 0]), "{job}");
    assert_eq!(
        stack().client.records(&dataset("wide"))?["k2"]["record"].as_object().map(serde_json::Map::len),
        Some(5_000)
    );
    Ok(())
}

#[test]
fn cells_that_a_spreadsheet_would_evaluate_are_reported_as_text_and_otherwise_unchanged() -> Story {
    let file = lines(["id,a", ",=1+1", ",@SUM(A1)", ",\"+x,\n-y\"", ",-5.2", ",a;=1", ",＝1"]);
    let (job, report) = work(stack(), "import", &file, &import_into("formulas"))?;
    assert_eq!(counts(&job), [0, 6, 0], "{job}");
    let url = report.document["files"]["failed"]["url"].as_str().unwrap_or_default();
    let raw = stack().client.get(url)?.text();
    for cell in ["'=1+1", "'@SUM(A1)", "\"'+x,\n'-y\"", ",-5.2,", "a;'=1", "'＝1"] {
        ensure!(raw.contains(cell), "{cell} is missing in\n{raw}");
    }
    Ok(())
}
