//! The records of imports: any interleaving of writers has the same result as one run in order, in memory and in the
//! table, and a list contains each record once.
//!
//! In the table, this also holds with concurrent writers, lost replies, and changes by others.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use longshore::store::records::{DynamoRecords, MAX_KEY_BYTES};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{ListError, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_tests::harness::faults::Faults;
use longshore_tests::harness::setup::aws;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::on_both::Local;
use crate::record_fixtures::{dataset, put_all, put_one, record, row_of};

on_both_records! {
    a_record_reads_back_as_it_was_written,
    an_upsert_keeps_the_latest_writer,
    an_insert_keeps_the_first_writer_and_recognizes_it,
    an_update_overwrites_only_an_existing_record,
    a_delete_yields_to_a_later_writer_only,
    a_list_contains_every_record_once,
    datasets_and_tenants_are_separate,
    a_tenants_datasets_are_listed_once_each,
    an_invalid_cursor_is_refused,
}

async fn a_record_reads_back_as_it_was_written(records: impl RecordStore) {
    let data = json!({
        "id": "007", "name": "Ödön \"x\"", "big": u64::MAX, "small": i64::MIN, "exact": 9_007_199_254_740_993_i64,
        "share": 0.1, "yes": true, "none": null, "list": [1, "a", {"b": []}], "map": {"c": {"d": -2.5}}, "empty": ""
    });
    let job = JobId::generate();
    assert_eq!(put_one(&records, Rule::Insert, record(job, 7, "007", data.clone())).await, Written::Stored);
    let page = records.list(&dataset("d"), 10, None).await.unwrap();
    assert_eq!((page.items.len(), page.next), (1, None));
    assert_eq!(Value::Object(page.items[0].record.clone()), data);
    assert_eq!(page.items[0].writer, Some(Writer { job, row: 7 }));
    assert!(page.items[0].updated_at.0 > 1_700_000_000_000);
}

async fn an_upsert_keeps_the_latest_writer(records: impl RecordStore) {
    let (old, new) = (JobId::generate(), JobId::generate());
    let writers = [(old, 3), (old, 9), (old, 3), (old, 5), (old, 9), (new, 1), (old, 10), (new, 1), (new, 2)];
    let mut latest = None;
    for (job, row) in writers {
        let writer = Writer { job, row };
        let answer = put_one(&records, Rule::Upsert, record(job, row, "k", json!({ "row": row }))).await;
        let stands = latest.filter(|latest| *latest > writer);
        assert_eq!(answer, stands.map_or(Written::Stored, Written::Superseded), "{writer}");
        latest = latest.max(Some(writer));
        assert_eq!(row_of(&records, "k").await, latest);
    }
}

async fn an_insert_keeps_the_first_writer_and_recognizes_it(records: impl RecordStore) {
    let (old, new) = (JobId::generate(), JobId::generate());
    let first = Writer { job: old, row: 3 };
    for (job, row) in [(old, 3), (old, 2), (old, 3), (new, 3), (old, 4), (old, 3)] {
        let answer = put_one(&records, Rule::Insert, record(job, row, "k", json!({ "row": row }))).await;
        let expected = if (job, row) == (old, 3) { Written::Stored } else { Written::Taken(Some(first)) };
        assert_eq!(answer, expected, "row {row}");
    }
    assert_eq!(row_of(&records, "k").await, Some(first));
}

async fn an_update_overwrites_only_an_existing_record(records: impl RecordStore) {
    let (old, new) = (JobId::generate(), JobId::generate());
    let update = async |job, row| put_one(&records, Rule::Update, record(job, row, "k", json!({ "row": row }))).await;
    assert_eq!(update(new, 1).await, Written::Missing);
    assert_eq!(records.list(&dataset("d"), 10, None).await.unwrap().items.len(), 0, "an update creates no record");
    assert!(records.datasets(&dataset("d").tenant, 10, None).await.unwrap().items.is_empty(), "and no dataset");
    put_one(&records, Rule::Insert, record(old, 5, "k", json!({}))).await;
    for (job, row) in [(old, 6), (old, 6), (new, 2), (new, 2)] {
        assert_eq!(update(job, row).await, Written::Stored, "row {row}");
        assert_eq!(row_of(&records, "k").await, Some(Writer { job, row }));
    }
    assert_eq!(update(old, 9).await, Written::Superseded(Writer { job: new, row: 2 }));
    assert_eq!(row_of(&records, "k").await, Some(Writer { job: new, row: 2 }));
}

async fn a_delete_yields_to_a_later_writer_only(records: impl RecordStore) {
    let (old, new) = (JobId::generate(), JobId::generate());
    let delete = async |job, row| put_one(&records, Rule::Delete, record(job, row, "k", json!({}))).await;
    assert_eq!(delete(new, 1).await, Written::Stored, "a missing key is a success");
    put_one(&records, Rule::Insert, record(new, 3, "k", json!({}))).await;
    put_one(&records, Rule::Insert, record(new, 3, "other", json!({}))).await;
    for (job, row) in [(old, 9), (new, 2)] {
        assert_eq!(delete(job, row).await, Written::Superseded(Writer { job: new, row: 3 }), "row {row}");
        assert_eq!(row_of(&records, "k").await, Some(Writer { job: new, row: 3 }));
    }
    for _ in 0..2 {
        assert_eq!(delete(new, 3).await, Written::Stored);
        assert_eq!(row_of(&records, "k").await, None);
    }
    assert!(row_of(&records, "other").await.is_some(), "no other record is deleted");
}

async fn a_list_contains_every_record_once(records: impl RecordStore) {
    let (job, into) = (JobId::generate(), dataset("d"));
    let new = |row: u64| record(job, row, &format!("key-{row}"), json!({ "row": row }));
    assert_eq!(records.list(&into, 10, None).await.unwrap().items.len(), 0);
    put_all(&records, &into, Rule::Insert, (1..=700).map(new).collect()).await;
    for limit in [1, 7, 100, 699, 700, 1_000] {
        // Pages of one record need 700 requests. Some of them are enough.
        let most = if limit == 1 { 40 } else { usize::MAX };
        let (mut rows, mut cursor, mut pages) = (BTreeMap::new(), None, 0);
        while pages < most {
            let page = records.list(&into, limit, cursor.as_deref()).await.unwrap();
            assert!(page.items.len() == limit || page.next.is_none(), "{} of {limit}", page.items.len());
            for item in page.items {
                assert_eq!(item.record["row"], json!(item.writer.unwrap().row));
                assert!(rows.insert(item.key, ()).is_none(), "a record was listed twice");
            }
            (cursor, pages) = (page.next, pages + 1);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(rows.len(), 700.min(limit.saturating_mul(most)), "limit {limit}");
        assert_eq!(pages, 700_usize.div_ceil(limit).min(most), "limit {limit}");
    }
}

async fn datasets_and_tenants_are_separate(records: impl RecordStore) {
    let job = JobId::generate();
    let places = [("default", "d"), ("default", "d2"), ("other", "d")];
    for (row, (tenant, name)) in (1..).zip(places) {
        let into = Dataset { tenant: TenantId::from_static(tenant), name: name.into() };
        let written = records.put(&into, Rule::Insert, vec![record(job, row, "k", json!({}))]).await;
        assert_eq!(written, [Written::Stored]);
        assert_eq!(records.list(&into, 10, None).await.unwrap().items.len(), 1);
    }
}

async fn a_tenants_datasets_are_listed_once_each(records: impl RecordStore) {
    let job = JobId::generate();
    for (row, (tenant, name)) in (1..).zip([("a", "x"), ("a", "B"), ("a", "x"), ("b", "x"), ("a", "a-1"), ("a:b", "y")])
    {
        let into = Dataset { tenant: TenantId::from_static(tenant), name: name.into() };
        records.put(&into, Rule::Upsert, vec![record(job, row, "k", json!({}))]).await;
    }
    for (tenant, names) in [("a", vec!["B", "a-1", "x"]), ("b", vec!["x"]), ("a:b", vec!["y"]), ("c", vec![])] {
        for limit in [1, 2, 3, 10] {
            let (mut names_read, mut after) = (Vec::new(), None);
            loop {
                let page = records.datasets(&TenantId::from_static(tenant), limit, after.as_deref()).await.unwrap();
                assert!(page.items.len() == limit || page.next.is_none());
                names_read.extend(page.items.into_iter().map(|known| known.name));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(names_read, names, "{tenant}, {limit} a page");
        }
    }
}

async fn an_invalid_cursor_is_refused(records: impl RecordStore) {
    // Shard and key as a page has them, but with a key longer than any in the table.
    let key = "k".repeat(MAX_KEY_BYTES + 1);
    let forged = [&Sha256::digest(&key)[..1], key.as_bytes()].concat();
    let forged = URL_SAFE_NO_PAD.encode([&[forged[0] % 64], &forged[1..]].concat());
    for cursor in ["x", "?", "", "AAAA", &forged] {
        let answer = records.list(&dataset("d"), 10, Some(cursor)).await;
        assert!(matches!(answer, Err(ListError::BadCursor)), "{cursor}");
    }
}

#[tokio::test]
async fn concurrent_writers_leave_one_insert_and_the_latest_upsert() {
    let local = Local::start().await;
    let records = local.records().await;
    let jobs: Vec<JobId> = (0..4).map(|_| JobId::generate()).collect();
    for (rule, name) in [(Rule::Insert, "first"), (Rule::Upsert, "latest")] {
        let into = dataset(name);
        let file = |job: JobId| (1..=60).map(|row| record(job, row, &format!("k{row}"), json!({}))).collect::<Vec<_>>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| records.put(&into, rule, file(jobs[at])));
        let written: Vec<Written> = <[_; 4]>::from(tokio::join!(a, b, c, d)).concat();
        let stored = written.iter().filter(|w| **w == Written::Stored).count();
        assert!(
            written.iter().all(|w| !matches!(w, Written::Unknown(_) | Written::Refused(_) | Written::Untried)),
            "{written:?}"
        );
        let page = records.list(&into, 1_000, None).await.unwrap();
        assert_eq!(page.items.len(), 60);
        if rule == Rule::Insert {
            assert_eq!(stored, 60);
        } else {
            assert!(page.items.iter().all(|r| r.writer.unwrap().job == jobs[3]));
        }
    }
}

#[tokio::test]
async fn a_second_import_of_a_file_overwrites_its_records() {
    let local = Local::start().await;
    let records = local.records().await;
    let into = dataset("d");
    // The second run finds most keys present, and the third begins with the other statement. All have the same
    // result.
    for _ in 0..3 {
        let job = JobId::generate();
        let file = (1..=120).map(|row| record(job, row, &format!("k{row}"), json!({ "row": row })));
        let new = record(job, 121, &format!("{job}"), json!({}));
        put_all(&records, &into, Rule::Upsert, file.chain([new]).collect()).await;
        let page = records.list(&into, 1_000, None).await.unwrap();
        assert_eq!(page.items.iter().filter(|r| r.writer.unwrap().job == job).count(), 121);
    }
}

#[tokio::test]
async fn writes_whose_replies_are_lost_happen_once_and_are_recognized() {
    let local = Local::start().await;
    local.records().await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let records = DynamoRecords::new(aws(&faults.endpoint).dynamodb(), &local.name);
    let job = JobId::generate();
    for rule in [Rule::Insert, Rule::Upsert, Rule::Update, Rule::Delete] {
        faults.lose_replies("dynamodb", "BatchExecuteStatement", 2).unwrap();
        let mut open: Vec<_> = (1..=30).map(|row| record(job, row, &format!("k{row}"), json!({}))).collect();
        // If a worker stops retrying before it has a response, its next round finds its own write in this way.
        for _ in 0..3 {
            let written = records.put(&dataset("d"), rule, open.clone()).await;
            assert!(
                written.iter().all(|w| matches!(w, Written::Stored | Written::Unknown(_))),
                "{rule:?}: {written:?}"
            );
            let mut written = written.into_iter();
            open.retain(|_| written.next() != Some(Written::Stored));
        }
        assert_eq!(open, [], "{rule:?}");
    }
}

#[tokio::test]
async fn a_throttled_table_is_reported_and_a_failing_table_leaves_records_unknown() {
    let local = Local::start().await;
    local.records().await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let records = DynamoRecords::new(aws(&faults.endpoint).dynamodb(), &local.name);
    faults.refuse("dynamodb", "BatchExecuteStatement", 1_000, "ProvisionedThroughputExceededException").unwrap();
    let written = records.put(&dataset("d"), Rule::Insert, vec![record(JobId::generate(), 1, "k", json!({}))]).await;
    assert_eq!(written, [Written::Throttled("ProvisionedThroughputExceededException".into())]);
    faults.refuse("dynamodb", "BatchExecuteStatement", 1_000, "InternalServerError").unwrap();
    let written = records.put(&dataset("d"), Rule::Insert, vec![record(JobId::generate(), 2, "l", json!({}))]).await;
    let [Written::Unknown(reason)] = written.as_slice() else { panic!("{written:?}") };
    assert!(reason.starts_with("the table could not be written"), "{reason}");
}

#[tokio::test]
async fn a_record_without_an_import_stays_unchanged() {
    let local = Local::start().await;
    let records = local.records().await;
    let job = JobId::generate();
    put_one(&records, Rule::Insert, record(job, 1, "k", json!({}))).await;
    let items = local.aws.dynamodb().scan().table_name(&local.name).send().await.unwrap().items.unwrap();
    let mut item = items.into_iter().next().unwrap();
    item.remove("writer");
    item.insert("expiresAt".into(), AttributeValue::N("4102444800".into()));
    local.aws.dynamodb().put_item().table_name(&local.name).set_item(Some(item)).send().await.unwrap();
    assert_eq!(put_one(&records, Rule::Insert, record(job, 1, "k", json!({}))).await, Written::Taken(None));
    let upsert = put_one(&records, Rule::Upsert, record(job, 2, "k", json!({}))).await;
    assert!(matches!(&upsert, Written::Refused(why) if why.contains("no import wrote")), "{upsert:?}");
    for rule in [Rule::Update, Rule::Delete] {
        assert_eq!(put_one(&records, rule, record(job, 2, "k", json!({}))).await, upsert, "{rule:?}");
    }
}
