//! The records of imports: any interleaving of writers has the same result as one run in order, in memory and in the
//! table, and a list contains each record once.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use longshore::store::records::{DynamoRecords, MAX_KEY_BYTES};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{ListError, NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::MemoryRecords;
use longshore_tests::harness::resources::create_jobs_table;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::on_both::Local;

macro_rules! on_both_records {
    ($($name:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::MemoryRecords::default()).await;
            })+
        }
        mod on_dynamodb {
            $(#[tokio::test]
            async fn $name() {
                let local = crate::on_both::Local::start().await;
                super::$name(super::table(&local).await).await;
            })+
        }
    };
}

on_both_records!(
    a_record_reads_back_as_it_was_written,
    an_upsert_keeps_the_latest_writer,
    an_insert_keeps_the_first_writer_and_recognizes_it,
    a_list_contains_every_record_once,
    datasets_and_tenants_are_separate,
    a_tenants_datasets_are_listed_once_each,
    an_invalid_cursor_is_refused,
);

/// A records table. The jobs table has the same keys, and its index does no harm.
pub(crate) async fn table(local: &Local) -> DynamoRecords {
    create_jobs_table(&local.aws, &local.name).await.unwrap();
    DynamoRecords::new(local.aws.dynamodb(), &local.name)
}

pub(crate) fn dataset(name: &str) -> Dataset {
    Dataset { tenant: TenantId::from_static("default"), name: name.into() }
}

pub(crate) fn record(job: JobId, row: u64, key: &str, data: Value) -> NewRecord {
    let Value::Object(data) = data else { panic!("not an object: {data}") };
    NewRecord { key: key.into(), data, writer: Writer { job, row } }
}

pub(crate) async fn put_one(records: &impl RecordStore, rule: Rule, record: NewRecord) -> Written {
    records.put(&dataset("d"), rule, vec![record]).await.remove(0)
}

/// Writes records as a worker does: records that were not tried are written in the next round. All of them must be
/// stored.
pub(crate) async fn put_all(records: &impl RecordStore, into: &Dataset, rule: Rule, mut open: Vec<NewRecord>) {
    while !open.is_empty() {
        let written = records.put(into, rule, open.clone()).await;
        assert_eq!(written.len(), open.len());
        assert!(written.iter().all(|w| matches!(w, Written::Stored | Written::Untried)), "{written:?}");
        assert_eq!(written[0], Written::Stored, "the first is always tried");
        let untried: Vec<bool> = written.iter().map(|w| *w == Written::Untried).collect();
        let mut untried = untried.into_iter();
        open.retain(|_| untried.next() == Some(true));
    }
}

async fn row_of(records: &impl RecordStore, key: &str) -> Option<Writer> {
    let page = records.list(&dataset("d"), 1_000, None).await.unwrap();
    page.items.into_iter().find(|record| record.key == key).and_then(|record| record.writer)
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
