//! The files: ranges, entity tags, and files that appear as a whole.

use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileStream, Files, MultipartFiles, MultipartOutcome, PrefixRemoval, Read};

on_both_files! {
    a_file_is_read_as_it_was_written,
    absent_and_changed_files_are_reported,
    a_stream_begins_and_ends_where_it_should,
    a_multipart_file_appears_on_completion,
    an_upload_with_unexpected_parts_is_not_completed,
    a_removed_file_is_absent,
    files_are_removed_by_key_prefix,
}

async fn a_file_is_read_as_it_was_written(files: impl Files) {
    for bytes in [b"".to_vec(), b"hello".to_vec(), vec![7; 300_000]] {
        files.write("jobs/1/x.csv", "text/csv", bytes.clone()).await.unwrap();
        assert_eq!(files.info("jobs/1/x.csv").await.unwrap().unwrap().size_bytes, bytes.len() as u64);
        assert_eq!(files.read("jobs/1/x.csv", None, None).await.unwrap(), Read::Found(bytes));
    }
}

async fn absent_and_changed_files_are_reported(files: impl Files) {
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
        panic!("the file does not exist");
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

/// Minimum size of all parts but the last.
const PART_BYTES: usize = 5 << 20;

async fn a_multipart_file_appears_on_completion(files: impl Files + MultipartFiles) {
    let bytes: Vec<u8> = (0..PART_BYTES as u32 + 5).map(|n| (n / 7) as u8).collect();
    let upload = files.create_multipart("big", "text/csv").await.unwrap();
    let mut etags = Vec::new();
    for (number, part) in (1..).zip(bytes.chunks(PART_BYTES)) {
        // A part that is uploaded twice is the same part.
        for _ in 0..2 {
            let etag = files.upload_part(&upload, number, part.to_vec()).await.unwrap().unwrap();
            etags.truncate(number as usize - 1);
            etags.push(etag);
        }
    }
    assert_eq!(files.info("big").await.unwrap(), None);
    assert_eq!(files.complete_multipart(&upload, &etags).await.unwrap(), MultipartOutcome::Completed);
    let Read::Found(read) = files.read("big", None, None).await.unwrap() else { panic!("the file does not exist") };
    assert!(read == bytes, "{} bytes differ from the {} stored bytes", bytes.len(), read.len());
    // S3 may answer the second call like the first, or that the upload does not exist.
    files.complete_multipart(&upload, &etags).await.unwrap();
    assert_eq!(files.upload_part(&upload, 1, b"x".to_vec()).await.unwrap(), None);
    assert_eq!(files.info("big").await.unwrap().unwrap().size_bytes, bytes.len() as u64);
}

async fn an_upload_with_unexpected_parts_is_not_completed(files: impl Files + MultipartFiles) {
    let upload = files.create_multipart("parts", "text/csv").await.unwrap();
    let own = files.upload_part(&upload, 1, b"own".to_vec()).await.unwrap().unwrap();
    files.upload_part(&upload, 1, b"another's".to_vec()).await.unwrap().unwrap();
    assert_eq!(files.complete_multipart(&upload, &[own]).await.unwrap(), MultipartOutcome::Changed);
    assert_eq!(files.info("parts").await.unwrap(), None);
    for _ in 0..2 {
        files.abort_multipart(&upload).await;
        assert_eq!(files.upload_part(&upload, 2, b"x".to_vec()).await.unwrap(), None);
    }
}

async fn a_removed_file_is_absent(files: impl Files) {
    for key in ["jobs/1/a", "jobs/1/ab"] {
        files.write(key, "text/csv", b"x".to_vec()).await.unwrap();
    }
    for _ in 0..2 {
        files.remove("jobs/1/a").await.unwrap();
        assert_eq!(files.info("jobs/1/a").await.unwrap(), None);
    }
    assert!(files.info("jobs/1/ab").await.unwrap().is_some());
}

async fn files_are_removed_by_key_prefix(files: impl Files) {
    for n in 0..1_005 {
        files.write(&format!("jobs/1/{n}"), "text/csv", b"x".to_vec()).await.unwrap();
    }
    files.write("jobs/10/a", "text/csv", b"x".to_vec()).await.unwrap();
    let mut calls = 1;
    while files.remove_some("jobs/1/").await.unwrap() == PrefixRemoval::MoreLeft {
        calls += 1;
    }
    assert!(calls <= 3, "{calls} calls for two pages");
    for n in [0, 999, 1_004] {
        assert_eq!(files.info(&format!("jobs/1/{n}")).await.unwrap(), None);
    }
    assert_eq!(files.remove_some("jobs/1/").await.unwrap(), PrefixRemoval::Emptied, "no file is left");
    assert!(files.info("jobs/10/a").await.unwrap().is_some());
}
