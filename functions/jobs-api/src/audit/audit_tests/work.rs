//! Audits of the work files and of the input.

use longshore_domain::ids::ChunkId;
use longshore_domain::ports::Files;

use super::audited::*;
use crate::audit::work::largest_chunk;

/// Replaces text in a chunk's work file.
fn edit(audited: &Audited, id: ChunkId, from: &str, to: &str) {
    let key = audited.work_key(id);
    let text = String::from_utf8(audited.files.get(&key).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    audited.files.put(&key, text.replace(from, to));
}

/// Replaces the input, and changes the job as if it had processed the replacement.
fn put_input(audited: &mut Audited, text: &str) {
    let source = audited.records.job.source.as_mut().unwrap();
    audited.files.put(&source.key, text);
    let info = futures::FutureExt::now_or_never(audited.files.info(&source.key)).unwrap().unwrap().unwrap();
    (source.etag, source.size_bytes) = (info.etag, info.size_bytes);
}

#[test]
fn the_size_of_a_chunk_includes_the_entries_of_its_work_files() {
    let mut audited = Audited::sound();
    let largest = |audited: &Audited| {
        let (group, manifest) = audited.records.planned().next().unwrap();
        largest_chunk(group, manifest)
    };
    assert_eq!(largest(&audited), 4 + 2 * 3_072, "two items of four bytes");
    audited.cursor(ChunkId::new(0, 0)).file = None;
    audited.cursor(ChunkId::new(0, 1)).file = None;
    assert_eq!(largest(&audited), 4, "no work file");
}

#[test]
fn every_change_of_a_work_file_is_reported() {
    let table: [Tampering; 7] = [
        (
            "a line is gone",
            |a| a.put_work(ChunkId::new(1, 0), ""),
            &["work_failed of group 1: 1 0", "work_rows of failed.csv: 1 2", "work_items of failed.csv"],
        ),
        (
            "a failure of another item",
            |a| edit(a, ChunkId::new(1, 0), "\"n\":5", "\"n\":6"),
            &["work_items of failed.csv"],
        ),
        (
            "a failure is skipped",
            |a| edit(a, ChunkId::new(1, 0), "\"failed\"", "\"skipped\""),
            &[
                "work_failed of group 1: 1 0",
                "work_skipped of group 1: 0 1",
                "work_rows of failed.csv: 1 2",
                "work_items of failed.csv",
                "work_rows of skipped.csv: 2 1",
                "work_items of skipped.csv",
            ],
        ),
        (
            "an ended item is waiting",
            |a| edit(a, ChunkId::new(0, 1), "\"skipped\"", "\"transient\""),
            &[
                "work_ended of group 0: 4 3",
                "work_skipped of group 0: 1 0",
                "work_waiting of group 0: 0 1",
                "work_rows of skipped.csv: 0 1",
                "work_items of skipped.csv",
            ],
        ),
        (
            "a file is damaged",
            |a| edit(a, ChunkId::new(0, 1), "\"n\":", "\"m\":"),
            &["work_files of chunk 1 of group 0"],
        ),
        (
            "the cursor refers to no work file",
            |a| a.cursor(ChunkId::new(0, 0)).file = None,
            &["work_failed of group 0: 1 0", "work_rows of failed.csv: 1 2", "work_items of failed.csv"],
        ),
        (
            "the cursor is behind the last item",
            |a| {
                let cursor = a.cursor(ChunkId::new(1, 0));
                (cursor.position, cursor.finished) = (9, false);
            },
            &["cursors of group 1: 3 9", "work_files of chunk 0 of group 1"],
        ),
    ];
    assert_differences(&table);
}

#[test]
fn a_plan_that_differs_from_the_input_is_reported() {
    let table: [Tampering; 3] = [
        (
            "a record fewer",
            |a| put_input(a, &INPUT.replace("a\nb\n", "aab\n")),
            &[
                "input_items of p.csv: 7 6",
                "planned_items of chunk 0 of group 0: 2 1",
                "planned_numbers of chunk 1 of group 0: 3 2",
                "planned_numbers of chunk 0 of group 1: 5 4",
            ],
        ),
        (
            "a record more",
            |a| put_input(a, &format!("{INPUT}\nh")),
            &["input_items of p.csv: 7 8", "input_size of receipt.json: 19 17"],
        ),
        (
            "a chunk that begins within a record",
            |a| plan(a, 0, 1).start = 8,
            &["planned_items of chunk 1 of group 0: 2 1", "planned_numbers of chunk 1 of group 0: 3 4"],
        ),
    ];
    assert_differences(&table);
}

fn assert_differences(table: &[Tampering]) {
    for (what, change, expected) in table {
        let mut audited = Audited::sound();
        change(&mut audited);
        let differences = audited.differences();
        for named in *expected {
            assert!(differences.iter().any(|difference| difference.starts_with(named)), "{what}: {differences:?}");
        }
        assert_eq!(audited.audit().equal, Some(false), "{what}");
    }
}
