//! Bad rows in a valid file: each fails alone, and the others are imported.

use anyhow::ensure;
use longshore_tests::harness::report::Report;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, lines, stack, work};

fn into(name: &str) -> Value {
    json!({ "dataset": dataset(name), "key": "id" })
}

/// Number and code of each failed row, and the number of succeeded rows.
type Expected = (Vec<(u64, String)>, u64);

fn expected(file: &[u8], options: &Value) -> anyhow::Result<Expected> {
    let stack = stack();
    let id = stack.client.start("import", "file.csv", file, options)?;
    let job = Watch::new(stack, &id).end()?;
    ensure!(job["status"] == "completed", "{job}");
    let report = Report::read(&stack.client, &id)?;
    let [succeeded, failed, _] = counts(&job);
    ensure!(failed == report.failed.len() as u64, "{job}");
    Ok((report.codes().into_iter().collect(), succeeded))
}

fn named(codes: &[(u64, &str)]) -> Vec<(u64, String)> {
    codes.iter().map(|(number, code)| (*number, (*code).to_owned())).collect()
}

/// Description, file, bad rows, and number of good rows.
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
    for (what, file, failed, succeeded) in table {
        assert_eq!(expected(&file, &into("bad-rows"))?, (named(failed), succeeded), "{what}");
    }
    Ok(())
}

#[test]
fn a_row_of_seventeen_megabytes_fails_unread() -> Story {
    let mut file = b"id,a\n1,x\n2,".to_vec();
    file.resize(file.len() + (17 << 20), b'y');
    file.extend(b"\n3,z\n");
    assert_eq!(expected(&file, &into("long-row"))?, (named(&[(2, "row_too_long")]), 2));
    assert_eq!(stack().client.records(&dataset("long-row"))?.keys().collect::<Vec<_>>(), ["1", "3"]);
    Ok(())
}

#[test]
fn keys_that_come_twice_in_a_file_fail_only_where_nothing_may_be_overwritten() -> Story {
    let file = lines(["id,a", "1,first", "2,x", "1,last", "1,last"]);
    let (job, _) = work(stack(), "import", &file, &into("twice-upsert"))?;
    assert_eq!(counts(&job), [4, 0, 0], "{job}");
    assert_eq!(stack().client.records(&dataset("twice-upsert"))?["1"]["record"]["a"], "last");
    let (job, report) =
        work(stack(), "import", &file, &json!({ "dataset": dataset("twice-insert"), "key": "id", "mode": "insert" }))?;
    assert_eq!(counts(&job), [2, 2, 0], "{job}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), named(&[(3, "duplicate_key"), (4, "duplicate_key")]));
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
fn cells_that_a_spreadsheet_would_run_come_back_as_text_and_unchanged() -> Story {
    let file = lines(["id,a", ",=1+1", ",@SUM(A1)", ",\"+x,\n-y\"", ",-5.2", ",a;=1", ",＝1"]);
    let (job, report) = work(stack(), "import", &file, &into("formulas"))?;
    assert_eq!(counts(&job), [0, 6, 0], "{job}");
    let url = report.document["files"]["failed"]["url"].as_str().unwrap_or_default();
    let raw = stack().client.get(url)?.text();
    for cell in ["'=1+1", "'@SUM(A1)", "\"'+x,\n'-y\"", ",-5.2,", "a;'=1", "'＝1"] {
        ensure!(raw.contains(cell), "{cell} is not in\n{raw}");
    }
    Ok(())
}
