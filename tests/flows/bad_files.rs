//! Files that cannot be read at all, or that contain no rows: the job fails with a code and a message.

use anyhow::ensure;
use longshore_tests::harness::report::Report;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, error_code, stack};

fn options() -> Value {
    json!({ "dataset": dataset("bad-files"), "key": "id", "mode": "validate" })
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

#[test]
fn a_file_that_cannot_be_read_fails_the_job_with_a_code_and_a_sentence() -> Story {
    let wide: String = (0..60_000).map(|n| format!("column{n},")).collect();
    let table: [(&str, Vec<u8>, &str); 12] = [
        ("only a line end", b"\r\n".to_vec(), "file_empty"),
        ("only blank lines", "\n".repeat(1_000_000).into_bytes(), "file_empty"),
        ("only a byte order mark", "\u{feff}".into(), "file_empty"),
        ("UTF-16", utf16("id,name\n1,Ann\n"), "file_not_utf8"),
        ("a zip archive", b"PK\x03\x04\x14\x00\x00\x00\x08\x00rest".to_vec(), "file_binary"),
        ("a gzip archive", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03rest".to_vec(), "file_binary"),
        ("a program", b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00".to_vec(), "file_binary"),
        ("a quote that opens in the header", b"id,\"name\n1,Ann\n2,Bob\n".to_vec(), "unterminated_quote"),
        ("a header of half a megabyte", format!("id,{wide}\n1\n").into_bytes(), "header_too_long"),
        ("two columns of one name", b"id,a,id\n1,2,3\n".to_vec(), "duplicate_column"),
        ("no key column", b"ID,name\n1,Ann\n".to_vec(), "key_not_in_header"),
        ("a Latin-1 header", b"id,n\xE4me\n1,Ann\n".to_vec(), "file_not_utf8"),
    ];
    let stack = stack();
    let mut jobs = Vec::new();
    for (what, bytes, code) in &table {
        jobs.push((what, code, stack.client.start("import", "file.csv", bytes, &options())?));
    }
    for (what, code, id) in jobs {
        let job = Watch::new(stack, &id).end()?;
        ensure!(job["status"] == "failed" && error_code(&job) == *code, "{what}: {code} expected: {job}");
        let sentence = job["error"]["message"].as_str().unwrap_or_default();
        ensure!(sentence.split_whitespace().count() > 5, "{what}: no sentence: {sentence:?}");
        assert_eq!((counts(&job), job["itemCount"].as_u64()), ([0, 0, 0], Some(0)), "{what}");
        // The result exists nevertheless.
        Report::read(&stack.client, &id)?;
    }
    Ok(())
}

#[test]
fn a_file_with_a_header_and_no_rows_completes_with_no_items() -> Story {
    let stack = stack();
    // A million blank lines are no rows either.
    for file in ["id,name\n".to_owned(), "id,name".to_owned(), format!("id,name\n{}", "\n".repeat(1_000_000))] {
        let id = stack.client.start("import", "file.csv", file.as_bytes(), &options())?;
        let job = Watch::new(stack, &id).end()?;
        assert_eq!((job["status"].as_str(), job["itemCount"].as_u64()), (Some("completed"), Some(0)), "{job}");
        assert_eq!(job["issues"][0]["code"], "no_rows", "{job}");
        Report::read(&stack.client, &id)?.partitions(&[])?;
    }
    Ok(())
}
