//! The files: ranges, entity tags, files that appear as a whole, and presigned URLs.
//!
//! A presigned PUT accepts exactly the announced file, once. A presigned GET saves it under the client's own name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::FileGuid;
use longshore_domain::parts::{MIN_PART_BYTES, Multipart, PartChecksum, parts};
use longshore_domain::ports::{
    DownloadUrls, FileStream, Files, MultipartFiles, MultipartOutcome, PartStorage, PrefixRemoval, PutUrl, Read,
    ReceivedPart, Upload, UploadStorage,
};
use longshore_domain::tenant::TenantId;
use sha2::{Digest, Sha256};

use crate::on_both::Local;

on_both_files! {
    a_file_is_read_as_it_was_written,
    absent_and_changed_files_are_reported,
    a_stream_begins_and_ends_where_it_should,
    a_multipart_file_appears_on_completion,
    a_file_is_copied_as_a_part,
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
    let plan = ChunkPlan { first: 1, items: 1, start: 1, end: 3, oversize: false, keys: None };
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

async fn a_file_is_copied_as_a_part(files: impl Files + MultipartFiles) {
    let (large, end) = (vec![b'x'; PART_BYTES], b"end".to_vec());
    let key = "jobs/a+b@c.org/large file";
    files.write(key, "text/csv", large.clone()).await.unwrap();
    let upload = files.create_multipart("copied", "text/csv").await.unwrap();
    let first = files.copy_part(&upload, 1, key).await.unwrap().unwrap();
    assert_eq!(
        files.copy_part(&upload, 1, key).await.unwrap(),
        Some(first.clone()),
        "a repeated copy is the same part"
    );
    assert!(files.copy_part(&upload, 1, "jobs/absent").await.is_err(), "the file does not exist");
    let last = files.upload_part(&upload, 2, end.clone()).await.unwrap().unwrap();
    assert_eq!(files.complete_multipart(&upload, &[first, last]).await.unwrap(), MultipartOutcome::Completed);
    let Read::Found(read) = files.read("copied", None, None).await.unwrap() else { panic!("the file does not exist") };
    assert!(read == [large, end].concat(), "{} bytes", read.len());
    assert_eq!(files.copy_part(&upload, 1, key).await.unwrap(), None, "the upload has ended");
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

fn upload(bytes: &[u8]) -> Upload {
    Upload {
        file_guid: FileGuid::generate(),
        tenant: TenantId::from_static("default"),
        key: format!("uploads/default/{}", FileGuid::generate()),
        file_name: "people.csv".into(),
        content_type: "text/csv".into(),
        size_bytes: bytes.len() as u64,
        sha256: None,
        multipart: None,
        promised_at: longshore_domain::timestamp::Timestamp(0),
        expires_at: 0,
    }
}

/// The status of a PUT of these bytes, without one of its headers if it is named.
fn put(target: &PutUrl, bytes: &[u8], without: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build().into();
    let mut request = agent.put(&target.url);
    for (name, value) in target.headers.iter().filter(|(name, _)| name != without) {
        request = request.header(name, value);
    }
    request.send(bytes).unwrap().status().as_u16()
}

#[tokio::test]
async fn a_presigned_put_accepts_only_the_announced_file_once() {
    let local = Local::start().await;
    let files = local.files().await;
    let upload = upload(b"a,b\n1,2\n");
    let target = files.upload_url(&upload, 60).await.unwrap();
    assert!(!target.url.to_lowercase().contains("crc32"), "{}", target.url);
    let names: Vec<_> = target.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"content-type") && names.contains(&"if-none-match"), "{names:?}");
    assert!(target.url.contains("X-Amz-SignedHeaders=content-length%3Bcontent-type"), "{}", target.url);
    assert!(put(&target, b"a,b\n1,2\n3,4\n", "") >= 400, "longer than announced");
    assert!(put(&target, b"a,b\n1,2\n", "if-none-match") >= 400, "without a signed header");
    assert_eq!(put(&target, b"a,b\n1,2\n", ""), 200);
    assert_eq!(put(&target, b"A,B\n1,2\n", ""), 412, "the file already exists");
    assert_eq!(files.read(&upload.key, None, None).await.unwrap(), Read::Found(b"a,b\n1,2\n".to_vec()));
}

#[tokio::test]
async fn a_presigned_put_with_a_checksum_refuses_other_content() {
    let local = Local::start().await;
    let files = local.files().await;
    let checksum = STANDARD.encode(Sha256::digest(b"right"));
    let upload = Upload { sha256: Some(checksum.clone()), ..upload(b"right") };
    let target = files.upload_url(&upload, 60).await.unwrap();
    let listed = target.headers.iter().any(|(name, value)| name == "x-amz-checksum-sha256" && *value == checksum);
    assert!(listed, "{:?}", target.headers);
    assert!(put(&target, b"wrong", "") >= 400);
    assert_eq!(put(&target, b"right", ""), 200);
}

/// Covers two refusals that the emulator does not have: a part without a checksum, and a part that is too small.
#[tokio::test]
async fn presigned_parts_accept_only_their_bytes_and_form_one_file() {
    let local = Local::start().await;
    let files = local.files().await;
    let bytes = vec![b'a'; 6 << 20];
    let upload = upload(&bytes);
    let id = files.begin(&upload).await.unwrap();
    let multipart = Multipart { id, part_bytes: MIN_PART_BYTES };
    let cut: Vec<_> = parts(upload.size_bytes, multipart.part_bytes).collect();
    let of_part = |number: usize| bytes.chunks(multipart.part_bytes as usize).nth(number).unwrap();
    for (number, part) in cut.iter().enumerate() {
        let sha256 = STANDARD.encode(Sha256::digest(of_part(number)));
        let target = files
            .part_url(&upload, &multipart, &PartChecksum { part: *part, sha256: sha256.clone() }, 60)
            .await
            .unwrap();
        assert_eq!(target.headers, [("x-amz-checksum-sha256".to_owned(), sha256.clone())]);
        assert!(target.url.contains("X-Amz-SignedHeaders=content-length%3B"), "{}", target.url);
        assert!(put(&target, &of_part(number)[1..], "") >= 400, "shorter than signed");
        let others = vec![b'b'; of_part(number).len()];
        assert_eq!(put(&target, &others, ""), 400, "bytes that do not match the checksum");
        assert_eq!(put(&target, of_part(number), "x-amz-checksum-sha256"), 403, "without the signed checksum");
        assert_eq!(put(&target, of_part(number), ""), 200);
        assert_eq!(put(&target, of_part(number), ""), 200, "a part can be uploaded again");
    }
    let received = files.received_parts(&upload, &multipart).await.unwrap().unwrap();
    let reported: Vec<_> = received.iter().map(|part| (part.number, part.size_bytes, part.sha256.is_some())).collect();
    assert_eq!(reported, [(1, 5 << 20, true), (2, 1 << 20, true)]);
    let mut others = received.clone();
    others[0].etag = "\"0\"".to_owned();
    assert_eq!(files.complete(&upload, &multipart, &others).await.unwrap(), MultipartOutcome::Changed);
    let larger = Upload { size_bytes: upload.size_bytes + 1, ..upload.clone() };
    assert!(files.complete(&larger, &multipart, &received).await.is_err(), "not the announced size");
    assert_eq!(files.info(&upload.key).await.unwrap(), None);
    assert_eq!(files.complete(&upload, &multipart, &received).await.unwrap(), MultipartOutcome::Completed);
    assert!(
        files.read(&upload.key, None, None).await.unwrap() == Read::Found(bytes.clone()),
        "the file's bytes differ"
    );
    assert_eq!(files.received_parts(&upload, &multipart).await.unwrap(), None);
}

#[tokio::test]
async fn a_multipart_upload_is_absent_after_abort_or_completion() {
    let local = Local::start().await;
    let files = local.files().await;
    let upload = upload(b"a,b\n");
    let begin = async || Multipart { id: files.begin(&upload).await.unwrap(), part_bytes: MIN_PART_BYTES };
    let aborted = begin().await;
    files.abort(&upload, &aborted).await;
    assert_eq!(files.received_parts(&upload, &aborted).await.unwrap(), None);
    // S3 answers an empty list with 400, for any upload.
    let part = ReceivedPart { number: 1, size_bytes: 4, sha256: None, etag: "\"0\"".to_owned() };
    assert_eq!(files.complete(&upload, &aborted, &[part]).await.unwrap(), MultipartOutcome::Gone);
    let late = begin().await;
    let part = parts(upload.size_bytes, late.part_bytes).next().unwrap();
    let sha256 = STANDARD.encode(Sha256::digest(b"a,b\n"));
    let target = files.part_url(&upload, &late, &PartChecksum { part, sha256 }, 60).await.unwrap();
    assert_eq!(put(&target, b"a,b\n", ""), 200);
    files.write(&upload.key, "text/csv", b"first".to_vec()).await.unwrap();
    let received = files.received_parts(&upload, &late).await.unwrap().unwrap();
    assert_eq!(files.complete(&upload, &late, &received).await.unwrap(), MultipartOutcome::Gone);
    assert_eq!(files.read(&upload.key, None, None).await.unwrap(), Read::Found(b"first".to_vec()));
}

#[tokio::test]
async fn a_presigned_get_saves_the_file_under_the_clients_name() {
    let local = Local::start().await;
    let files = local.files().await;
    files.write("jobs/1/report/failed.csv", "text/csv", b"a\n".to_vec()).await.unwrap();
    let url = files.download_url("jobs/1/report/failed.csv", "people (failed).csv", 60).await.unwrap();
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let mut answer = agent.get(&url).call().unwrap();
    let disposition = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment; filename=\"people (failed).csv\""), "{disposition}");
    assert_eq!(answer.body_mut().read_to_string().unwrap(), "a\n");
}
