//! Limits of AWS in the in-memory store: it refuses the same calls, and a refused call stores nothing.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, JobError, Priority};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::RecordStore;
use longshore_domain::ports::{DeadLetterRecords, Definition, Files, MultipartFiles, Queues, Store};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Written};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords};
use longshore_tests::harness::setup::CreatedQueues;
use serde_json::json;

use crate::fixtures::{accepted, at, job_after, split, waiting_job};
use crate::on_both::Local;
use crate::record_fixtures::{dataset, put_one, record};

const ITEM_BYTES: usize = 400 * 1024;

on_both_stores! {
    a_job_larger_than_an_item_is_refused,
    an_update_that_makes_an_item_too_large_is_refused,
    large_issues_do_not_fail_the_end_of_a_split,
    a_dead_letter_record_larger_than_an_item_is_refused,
}

async fn a_job_larger_than_an_item_is_refused(store: impl Store) {
    let job = waiting_job();
    let large = Definition::new(json!({ "note": "x".repeat(ITEM_BYTES) }));
    assert!(store.create_job(&job, &large, None).await.is_err());
    assert_eq!((store.job(job.job_id).await.unwrap(), store.definition(job.job_id).await.unwrap()), (None, None));
}

async fn an_update_that_makes_an_item_too_large_is_refused(store: impl Store) {
    let job = split(&store, 1).await;
    assert!(store.put_columns(job.job_id, &["x".repeat(ITEM_BYTES)], None, None).await.is_err());
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job.clone()));
    assert_eq!(store.definition(job.job_id).await.unwrap().unwrap().columns, None);
}

/// Issues are truncated, in size and number, before they are stored: a split never fails because of the issues that
/// it reports.
async fn large_issues_do_not_fail_the_end_of_a_split(store: impl Store) {
    let job = split(&store, 1).await;
    let issue = |n| JobError::new(format!("odd_{n}_{}", "c".repeat(ITEM_BYTES)), "x".repeat(ITEM_BYTES));
    let issues: Vec<_> = (0..100).map(issue).collect();
    let ended = job_after(store.end_split(&job, 1, &issues, at(9)).await.unwrap());
    assert_eq!(ended.issues, issues[..20]);
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended));
}

async fn a_dead_letter_record_larger_than_an_item_is_refused(store: impl Store + DeadLetterRecords) {
    accepted(&store).await;
    let dead_letter = DeadLetterRecord {
        id: "1700000000000-m".into(),
        queue: Queue::Chunk,
        message: DeadLetterMessage::Unreadable { reason: "no JSON".into() },
        sent_at: Timestamp(0),
        seen_at: Timestamp(0),
        receives: 6,
        size_bytes: 1,
        source: None,
        group_id: None,
        resolution: None,
        expires_at: 0,
    };
    assert!(store.record(&dead_letter, Some(&"x".repeat(ITEM_BYTES))).await.is_err());
    assert_eq!(store.dead_letter(&dead_letter.id).await.unwrap(), None);
    store.record(&dead_letter, Some("x")).await.unwrap();
    assert_eq!(store.dead_letter(&dead_letter.id).await.unwrap(), Some(dead_letter));
}

async fn records_beyond_the_limits(records: impl RecordStore) {
    let job = JobId::generate();
    let note = |bytes: usize| json!({ "note": "x".repeat(bytes) });
    for (key, data) in [("k", note(ITEM_BYTES)), (&"k".repeat(1025), note(1)), ("", note(1))] {
        let answer = put_one(&records, Rule::Insert, record(job, 1, key, data)).await;
        assert!(matches!(answer, Written::Refused(_) | Written::Unknown(_)), "{answer:?}");
    }
    let twice =
        vec![record(job, 1, "same", note(1)), record(job, 2, "same", note(2)), record(job, 3, "other", note(3))];
    let answer = records.put(&dataset("d"), Rule::Upsert, twice).await;
    assert!(
        answer.iter().all(|written| matches!(written, Written::Unknown(_))),
        "the entire batch is refused: {answer:?}"
    );
    assert!(records.list(&dataset("d"), 10, None).await.unwrap().items.is_empty());
    for key in ["", &"k".repeat(1025)] {
        assert!(records.delete(&dataset("d"), key).await.is_err(), "{} bytes", key.len());
    }
    assert!(records.delete(&dataset("d"), &"k".repeat(1024)).await.is_ok());
}

#[tokio::test]
async fn records_beyond_the_limits_are_refused_in_memory() {
    records_beyond_the_limits(MemoryRecords::default()).await;
}

#[tokio::test]
async fn records_beyond_the_limits_are_refused_by_dynamodb() {
    let local = Local::start().await;
    records_beyond_the_limits(local.records().await).await;
}

fn chunk(inline: &str) -> ChunkMessage {
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
    let job = Job {
        priority: Priority::Normal,
        ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", at(0))
    };
    ChunkMessage { inline: Some(inline.into()), ..ChunkMessage::new(&job, ChunkId::default(), &plan) }
}

async fn messages_beyond_the_limits(queues: &impl Queues) {
    let fine = chunk("a\u{fffe}b\u{ffff}c\u{1}\0");
    assert!(queues.send_chunks(std::slice::from_ref(&fine), 900).await.is_ok());
    for (message, delay_s) in [(fine.clone(), 901), (fine, -1), (chunk(&"x".repeat(1 << 20)), 0)] {
        assert!(queues.send_chunks(&[message], delay_s).await.is_err(), "{delay_s}");
    }
}

#[tokio::test]
async fn messages_beyond_the_limits_are_refused_in_memory() {
    let queues = MemoryQueues::default();
    messages_beyond_the_limits(&queues).await;
    assert_eq!(queues.take_chunks().len(), 1);
}

#[tokio::test]
async fn messages_beyond_the_limits_are_refused_by_sqs() {
    let local = Local::start().await;
    let created = CreatedQueues::create(&local.aws, &local.name).await.unwrap();
    messages_beyond_the_limits(&created.queues(&local.aws)).await;
}

async fn files_beyond_the_limits(files: impl Files + MultipartFiles) {
    let key = "k".repeat(1025);
    assert!(files.write(&key, "text/csv", b"x".to_vec()).await.is_err());
    assert!(files.create_multipart(&key, "text/csv").await.is_err());
    files.write(&"k".repeat(1024), "text/csv", b"x".to_vec()).await.unwrap();
}

#[tokio::test]
async fn files_beyond_the_limits_are_refused_in_memory() {
    files_beyond_the_limits(MemoryFiles::default()).await;
}

#[tokio::test]
async fn files_beyond_the_limits_are_refused_by_s3() {
    let local = Local::start().await;
    files_beyond_the_limits(local.files().await).await;
}

/// Code of a refused call's error.
fn code<T: std::fmt::Debug, E: ProvideErrorMetadata, R>(answer: Result<T, SdkError<E, R>>) -> Option<String> {
    answer.err().and_then(|error| error.as_service_error()?.code().map(str::to_owned))
}

#[tokio::test]
async fn small_or_unordered_parts_are_refused_by_s3() {
    let local = Local::start().await;
    local.files().await;
    let (s3, bucket) = (local.aws.s3(), local.name.as_str());
    for (sizes, order, expected) in [
        ([5 << 20, 1], [1, 2], None),
        ([(5 << 20) - 1, 1], [1, 2], Some("EntityTooSmall")),
        ([5 << 20, 5 << 20], [2, 1], Some("InvalidPartOrder")),
    ] {
        let begun = s3.create_multipart_upload().bucket(bucket).key("k").send().await.unwrap();
        let upload = begun.upload_id().unwrap();
        let mut parts = Vec::new();
        for (number, size) in (1..).zip(sizes) {
            let put = s3.upload_part().bucket(bucket).key("k").upload_id(upload).part_number(number);
            let etag = put.body(vec![b'x'; size].into()).send().await.unwrap().e_tag;
            parts.push(CompletedPart::builder().part_number(number).set_e_tag(etag).build());
        }
        let parts = order.map(|number: usize| parts[number - 1].clone()).to_vec();
        let completion = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let end = s3.complete_multipart_upload().bucket(bucket).key("k").upload_id(upload).multipart_upload(completion);
        assert_eq!(code(end.send().await).as_deref(), expected, "{sizes:?} {order:?}");
    }
    assert_eq!(local.refusals().len(), 2);
}

#[tokio::test]
async fn a_transaction_with_duplicate_or_too_many_items_is_refused_by_dynamodb() {
    let local = Local::start().await;
    local.store().await;
    let put = |number: usize, bytes: usize| {
        let put = Put::builder().table_name(&local.name).item("PK", AttributeValue::S("p".into()));
        let put = put.item("SK", AttributeValue::S(number.to_string())).item("a", AttributeValue::S("x".repeat(bytes)));
        TransactWriteItem::builder().put(put.build().unwrap()).build()
    };
    for (writes, fine) in [
        ((0..100).map(|number| put(number, 1)).collect::<Vec<_>>(), true),
        ((0..101).map(|number| put(number, 1)).collect(), false),
        (vec![put(1, 1), put(1, 2)], false),
        ((0..11).map(|number| put(number, 390_000)).collect(), false),
    ] {
        let answer = local.aws.dynamodb().transact_write_items().set_transact_items(Some(writes)).send().await;
        assert_eq!(code(answer).as_deref(), (!fine).then_some("ValidationException"));
    }
}
