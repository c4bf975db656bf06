//! Reads for jobs over a dataset: the keys of a walk in order, each once, and the records of some keys, in memory and in
//! the table.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{KeyWalk, RecordReader, RecordStore, StoredRecord};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::Rule;
use serde_json::{Value, json};

use crate::record_fixtures::{dataset, record};

on_both_records! {
    a_walk_finds_each_key_once_and_in_order,
    a_walk_includes_only_records_written_since,
    an_empty_dataset_has_no_keys,
    the_records_of_keys_are_read,
    keys_with_many_others_between_them_are_read,
    a_dataset_is_found_once_it_was_written_to,
    large_records_are_read_over_several_calls,
}

/// Writes records with these keys.
async fn write(records: &impl RecordStore, into: &Dataset, keys: &[String], data: &Value) {
    let mut open: Vec<_> =
        (1..).zip(keys).map(|(row, key)| record(JobId::generate(), row, key, data.clone())).collect();
    while !open.is_empty() {
        let written = records.put(into, Rule::Upsert, open.clone()).await;
        let untried =
            |written: &longshore_domain::writer::Written| *written != longshore_domain::writer::Written::Stored;
        open =
            open.into_iter().zip(written).filter(|(_, written)| untried(written)).map(|(record, _)| record).collect();
    }
}

/// All keys of a walk, and its number of pages.
async fn walk(records: &impl RecordReader, of: &Dataset, updated_since: Option<Timestamp>) -> (Vec<String>, usize) {
    let (mut keys, mut pages, mut at) = (Vec::new(), 0, KeyWalk { after: None, updated_since });
    loop {
        let page = records.walk_keys(of, &at).await.unwrap();
        pages += 1;
        keys.extend(page.keys);
        assert!(page.next.is_none() || page.next > at.after, "the walk moves");
        match page.next {
            Some(next) => at.after = Some(next),
            None => return (keys, pages),
        }
    }
}

async fn a_walk_finds_each_key_once_and_in_order(records: impl RecordStore + RecordReader) {
    let mut keys: Vec<_> = (0..1_500).map(|n| format!("{:x}-{n}", n * 7_919 % 1_499)).collect();
    keys.extend(["a#b", "\u{fc}\u{4e16}\u{1f980}", "\"quoted\"", " "].map(str::to_owned));
    write(&records, &dataset("d"), &keys, &json!({"a": 1})).await;
    write(&records, &dataset("d2"), &["other".to_owned()], &json!({})).await;
    keys.sort_unstable();
    assert_eq!(walk(&records, &dataset("d"), None).await.0, keys);
    let from = KeyWalk { after: Some(keys[700].clone()), updated_since: None };
    let page = records.walk_keys(&dataset("d"), &from).await.unwrap();
    assert_eq!(page.keys, keys[701..][..page.keys.len()]);
    let gone = KeyWalk { after: Some(format!("{}0", keys[700])), updated_since: None };
    assert_eq!(
        records.walk_keys(&dataset("d"), &gone).await.unwrap().keys.first(),
        keys.get(701),
        "a place is no record"
    );
}

async fn a_walk_includes_only_records_written_since(records: impl RecordStore + RecordReader) {
    write(&records, &dataset("d"), &["a".into(), "b".into()], &json!({})).await;
    let list = records.list(&dataset("d"), 10, None).await.unwrap().items;
    let latest = list.iter().map(|record| record.updated_at).max().unwrap();
    assert_eq!(walk(&records, &dataset("d"), Some(Timestamp(latest.0 + 1))).await.0, [""; 0]);
    assert_eq!(walk(&records, &dataset("d"), Some(Timestamp(1))).await.0, ["a", "b"]);
}

async fn an_empty_dataset_has_no_keys(records: impl RecordStore + RecordReader) {
    assert_eq!(walk(&records, &dataset("d"), None).await, (vec![], 1));
}

async fn the_records_of_keys_are_read(records: impl RecordStore + RecordReader) {
    let keys: Vec<_> = (0..300).map(|n| format!("k{n:03}")).collect();
    write(&records, &dataset("d"), &keys, &json!({"a": "b"})).await;
    records.delete(&dataset("d"), "k007").await.unwrap();
    let found = records.read_records(&dataset("d"), &keys[5..10]).await.unwrap();
    assert_eq!(found.known, 5);
    assert_eq!(keys_of(&found.records), ["k005", "k006", "k008", "k009"]);
    assert!(found.records.iter().all(|record| record.record.len() == 1), "with their data");
    assert_eq!(read(&records, &keys).await.len(), 299);
    let far = ["k001".to_owned(), "k299".to_owned()];
    let found = records.read_records(&dataset("d"), &far).await.unwrap();
    assert_eq!((found.known, keys_of(&found.records)), (2, vec!["k001", "k299"]), "only the keys that were asked for");
}

/// Reads the records of all keys. A call ends before the last one if the answers are large or slow.
async fn read(records: &impl RecordReader, keys: &[String]) -> Vec<StoredRecord> {
    let (mut read, mut at) = (Vec::new(), 0);
    while at < keys.len() {
        let found = records.read_records(&dataset("d"), &keys[at..]).await.unwrap();
        assert!(found.known > 0, "each call reads something");
        read.extend(found.records);
        at += found.known;
    }
    read
}

fn keys_of(records: &[StoredRecord]) -> Vec<&str> {
    let mut keys: Vec<_> = records.iter().map(|record| record.key.as_str()).collect();
    keys.sort_unstable();
    keys
}

/// The records between the wanted ones end the query of a shard before its last wanted key.
async fn keys_with_many_others_between_them_are_read(records: impl RecordStore + RecordReader) {
    let keys: Vec<_> = (0..2_000).map(|n| format!("k{n:04}")).collect();
    write(&records, &dataset("d"), &keys, &json!({"a": "b"})).await;
    let wanted: Vec<_> = keys.iter().step_by(7).cloned().collect();
    assert_eq!(keys_of(&read(&records, &wanted).await), wanted);
}

/// A query returns 1 MB. The records of the first keys are complete nevertheless, and the walk finds all.
async fn large_records_are_read_over_several_calls(records: impl RecordStore + RecordReader) {
    let all: Vec<_> = (0..4_000).map(|n| format!("k{n:05}")).collect();
    // All in one shard, so that one query cannot return them.
    let keys: Vec<_> =
        all.into_iter().filter(|key| longshore::store::records::shard::shard_of(key) == 5).take(6).collect();
    write(&records, &dataset("d"), &keys, &json!({"a": "x".repeat(300_000)})).await;
    assert_eq!(walk(&records, &dataset("d"), None).await.0, keys);
    assert_eq!(keys_of(&read(&records, &keys).await), keys);
}

async fn a_dataset_is_found_once_it_was_written_to(records: impl RecordStore + RecordReader) {
    let [ours, others] = ["t1", "t2"].map(|tenant| Dataset { tenant: TenantId::from_static(tenant), name: "d".into() });
    assert_eq!(records.find_dataset(&ours).await.unwrap(), None);
    write(&records, &ours, &["a".into()], &json!({})).await;
    let listed = records.datasets(&ours.tenant, 9, None).await.unwrap().items;
    assert_eq!(records.find_dataset(&ours).await.unwrap().as_slice(), listed);
    assert_eq!(records.find_dataset(&others).await.unwrap(), None, "of another tenant");
}
