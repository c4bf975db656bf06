//! Completion of a job with a gigabyte of outputs, and of one with the largest workbook.

use longshore_domain::ids::ChunkId;
use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobTransitions, Ledger};
use longshore_domain::results::{ResultColumn, ResultFormat, ResultsForm};
use longshore_domain::timestamp::Timestamp;
use measurements::is_complete_run;

use crate::generated::Generated;
use crate::{Large, now};

fn column(name: &str) -> ResultColumn {
    ResultColumn { name: name.into(), heading: name.into() }
}

/// A job of groups of this many chunks, whose items have all succeeded.
fn with_outputs(groups: u64, chunks: u32, items: u64, form: ResultsForm) -> Large {
    let in_group = u64::from(chunks);
    let large = Large::with_results(groups * in_group, Generated::with_outputs(items), Some(form));
    for group in 0..groups {
        let number = u32::try_from(group).unwrap();
        large.group_of(number, group * in_group, in_group, items);
        for chunk in 0..chunks {
            let counts = Counts { succeeded: items, ..Counts::default() };
            large.commit(ChunkId::new(number, chunk), counts, Some("1".into()));
        }
        now(large.ports.store.group_done(large.id, number, Timestamp::now())).unwrap();
    }
    now(large.ports.store.end_split(&large.job(), u32::try_from(groups).unwrap(), &[], Timestamp::now())).unwrap();
    large
}

/// The outputs of the items in objects of 8 MiB, as a fast handler writes them.
#[test]
fn a_job_with_a_gigabyte_of_outputs_ends_with_its_results() {
    const ITEMS: u64 = 62_000;
    let groups = if is_complete_run() { 8 } else { 1 };
    let columns = ["id", "name", "email", "city", "amount"].map(column).to_vec();
    for (name, format, gzip) in [
        ("JSON Lines", ResultFormat::Jsonl, false),
        ("CSV", ResultFormat::Csv, false),
        ("gzip", ResultFormat::Jsonl, true),
    ] {
        let columns = if format == ResultFormat::Csv { columns.clone() } else { Vec::new() };
        let form = ResultsForm { format, gzip, columns, ..ResultsForm::default() };
        let large = with_outputs(groups, 16, ITEMS, form);
        let run = large.complete();
        let results = large.receipt().results.unwrap();
        assert_eq!((large.job().status, results.rows), (Status::Completed, groups * 16 * ITEMS));
        assert_eq!(results.sha256.is_none(), name == "JSON Lines", "only these are copied");
        large.record(&format!("{} rows of results, {name}", results.rows), &run);
    }
}

/// Rows with long headings are ten times as large as the outputs: more than the function's memory for one commit.
#[test]
fn a_slice_of_small_outputs_becomes_large_rows_in_bounded_memory() {
    const ITEMS: u64 = 250_000;
    let names = ["id", "name", "email", "city", "amount"];
    let column = |name: &str| ResultColumn { name: name.into(), heading: format!("{name:x>255}") };
    for format in [ResultFormat::Jsonl, ResultFormat::Csv] {
        let form = ResultsForm { format, columns: names.map(column).to_vec(), ..ResultsForm::default() };
        let large = with_outputs(1, 1, ITEMS, form);
        let run = large.complete();
        assert_eq!((large.job().status, large.receipt().results.unwrap().rows), (Status::Completed, ITEMS));
        large.record(&format!("{ITEMS} rows with long headings, {format:?}"), &run);
    }
}

/// As many cells as a workbook may have: items in chunks, with a number and five columns.
#[test]
fn a_job_with_ten_million_cells_ends_with_a_workbook() {
    let (chunks, items) = if is_complete_run() { (32, 52_083) } else { (16, 2_000) };
    let columns = ["id", "name", "email", "city", "amount"].map(column).to_vec();
    let form = ResultsForm { format: ResultFormat::Xlsx, columns, ..ResultsForm::default() };
    let large = with_outputs(chunks / 16, 16, items, form);
    let run = large.complete();
    let results = large.receipt().results.unwrap();
    assert!(results.name.ends_with("results.xlsx"), "{}", results.name);
    assert_eq!(results.rows, chunks * items);
    large.record(&format!("{} cells in a workbook", results.rows * 6), &run);
}
