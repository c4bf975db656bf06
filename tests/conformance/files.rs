//! The files: ranges, entity tags, and files that appear as a whole.

use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileSink, FileStream, Files, Read};

on_both_files! {
    a_file_is_read_as_it_was_written,
    what_is_absent_or_changed_is_named,
    a_stream_begins_and_ends_where_it_should,
    a_file_appears_when_it_is_finished,
    a_file_larger_than_a_part_is_written_in_constant_memory,
    a_file_that_is_removed_is_gone,
    files_are_removed_by_what_their_keys_begin_with,
}

async fn a_file_is_read_as_it_was_written(files: impl Files) {
    for bytes in [b"".to_vec(), b"hello".to_vec(), vec![7; 300_000]] {
        files.write("jobs/1/x.csv", "text/csv", bytes.clone()).await.unwrap();
        assert_eq!(files.info("jobs/1/x.csv").await.unwrap().unwrap().size_bytes, bytes.len() as u64);
        assert_eq!(files.read("jobs/1/x.csv", None, None).await.unwrap(), Read::Found(bytes));
    }
}

async fn what_is_absent_or_changed_is_named(files: impl Files) {
    assert_eq!(files.info("no").await.unwrap(), None);
    assert_eq!(files.read("no", None, None).await.unwrap(), Read::Absent);
    assert!(matches!(files.open("no", Some("\"x\""), 5, None).await.unwrap(), Read::Absent));
    files.write("a", "text/csv", b"first".to_vec()).await.unwrap();
    let etag = files.info("a").await.unwrap().unwrap().etag;
    assert_eq!(files.read("a", Some(&etag), None).await.unwrap(), Read::Found(b"first".to_vec()));
    files.write("a", "text/csv", b"other".to_vec()).await.unwrap();
    assert_eq!(files.read("a", Some(&etag), None).await.unwrap(), Read::Changed);
    let plan = ChunkPlan { first: 1, items: 1, start: 1, end: 3, oversize: false };
    assert_eq!(files.read("a", Some(&etag), Some(&plan)).await.unwrap(), Read::Changed);
    assert_eq!(files.read("a", None, Some(&plan)).await.unwrap(), Read::Found(b"th".to_vec()));
}

async fn streamed(files: &impl Files, start: u64, end: Option<u64>) -> Vec<u8> {
    let Read::Found(mut stream) = files.open("s", None, start, end).await.unwrap() else {
        panic!("there is no file");
    };
    let mut bytes = Vec::new();
    while let Some(block) = stream.next().await.unwrap() {
        assert!(!block.is_empty());
        bytes.extend(block);
    }
    bytes
}

async fn a_stream_begins_and_ends_where_it_should(files: impl Files) {
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
    files.write("s", "text/csv", bytes.clone()).await.unwrap();
    for (start, end) in
        [(0, None), (1, None), (99_999, None), (100_000, None), (0, Some(1)), (5, Some(5)), (9, Some(70_000))]
    {
        let expected = &bytes[start as usize..end.map_or(bytes.len(), |end: u64| end as usize)];
        assert_eq!(streamed(&files, start, end).await, expected, "{start} to {end:?}");
    }
}

async fn a_file_appears_when_it_is_finished(files: impl Files) {
    let mut sink = files.create("r", "text/csv").await.unwrap();
    sink.write(b"a,b\n").await.unwrap();
    sink.write(b"").await.unwrap();
    sink.write(b"1,2\n").await.unwrap();
    assert_eq!(files.info("r").await.unwrap(), None);
    sink.finish().await.unwrap();
    assert_eq!(files.read("r", None, None).await.unwrap(), Read::Found(b"a,b\n1,2\n".to_vec()));
    files.create("empty", "text/csv").await.unwrap().finish().await.unwrap();
    assert_eq!(files.read("empty", None, None).await.unwrap(), Read::Found(vec![]));
}

async fn a_file_larger_than_a_part_is_written_in_constant_memory(files: impl Files) {
    for size in [8 << 20, (16 << 20) + 5] {
        let bytes: Vec<u8> = (0..size as u32).map(|n| (n / 7) as u8).collect();
        let mut sink = files.create("big", "text/csv").await.unwrap();
        for block in bytes.chunks(1_000_003) {
            sink.write(block).await.unwrap();
        }
        sink.finish().await.unwrap();
        let Read::Found(read) = files.read("big", None, None).await.unwrap() else { panic!("there is no file") };
        assert!(read == bytes, "{size} bytes came back as {} others", read.len());
    }
}

async fn a_file_that_is_removed_is_gone(files: impl Files) {
    for key in ["jobs/1/a", "jobs/1/ab"] {
        files.write(key, "text/csv", b"x".to_vec()).await.unwrap();
    }
    for _ in 0..2 {
        files.remove("jobs/1/a").await.unwrap();
        assert_eq!(files.info("jobs/1/a").await.unwrap(), None);
    }
    assert!(files.info("jobs/1/ab").await.unwrap().is_some());
}

async fn files_are_removed_by_what_their_keys_begin_with(files: impl Files) {
    for n in 0..1_005 {
        files.write(&format!("jobs/1/{n}"), "text/csv", b"x".to_vec()).await.unwrap();
    }
    files.write("jobs/10/a", "text/csv", b"x".to_vec()).await.unwrap();
    let mut calls = 1;
    while files.remove_some("jobs/1/").await.unwrap() {
        calls += 1;
    }
    assert!(calls <= 3, "{calls} calls for two pages");
    for n in [0, 999, 1_004] {
        assert_eq!(files.info(&format!("jobs/1/{n}")).await.unwrap(), None);
    }
    assert!(!files.remove_some("jobs/1/").await.unwrap(), "there is nothing left");
    assert!(files.info("jobs/10/a").await.unwrap().is_some());
}
