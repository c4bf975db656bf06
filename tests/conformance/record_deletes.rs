//! Deleted records: exactly the named record is gone, in memory and in the table, and a later write stores it again.

use longshore::store::records::DynamoRecords;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::RecordStore;
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_tests::harness::faults::Faults;
use longshore_tests::harness::setup::aws;
use serde_json::json;

use crate::on_both::Local;
use crate::record_fixtures::{dataset, put_one, record};

on_both_records! {
    a_deleted_record_is_gone_and_no_other_is,
    a_deleted_key_has_no_writer,
    a_delete_by_rule_spares_later_writers,
    an_update_creates_no_record,
}

/// The keys of a dataset's records, in order.
async fn keys(records: &impl RecordStore, from: &Dataset) -> Vec<String> {
    let page = records.list(from, 100, None).await.unwrap();
    let mut keys: Vec<_> = page.items.into_iter().map(|record| record.key).collect();
    keys.sort_unstable();
    keys
}

async fn a_deleted_record_is_gone_and_no_other_is(records: impl RecordStore) {
    // In order.
    let awkward = ["..", "100%", "a", "a#b", "a%2Fb", "a/b", "a?b", "z\u{fc}\u{4e16}\u{1f980}"];
    let [own, other_name, other_tenant] = [("default", "d"), ("default", "d2"), ("other", "d")]
        .map(|(tenant, name)| Dataset { tenant: TenantId::from_static(tenant), name: name.into() });
    for into in [&own, &other_name, &other_tenant] {
        let file = (1..).zip(awkward).map(|(row, key)| record(JobId::generate(), row, key, json!({})));
        records.put(into, Rule::Insert, file.collect()).await;
        assert_eq!(keys(&records, into).await, awkward);
    }
    for (deleted, key) in (1..).zip(awkward) {
        for _ in 0..2 {
            records.delete(&own, key).await.unwrap();
            assert_eq!(keys(&records, &own).await, awkward[deleted..], "{key}");
        }
    }
    assert_eq!(keys(&records, &other_name).await, awkward);
    assert_eq!(keys(&records, &other_tenant).await, awkward);
    let names = records.datasets(&own.tenant, 10, None).await.unwrap().items;
    assert_eq!(names.iter().map(|known| known.name.as_str()).collect::<Vec<_>>(), ["d", "d2"], "an empty one stays");
}

/// A late row of an earlier job writes the key again, under both rules.
async fn a_deleted_key_has_no_writer(records: impl RecordStore) {
    let (old, new) = (JobId::generate(), JobId::generate());
    for (rule, key) in [(Rule::Insert, "i"), (Rule::Upsert, "u")] {
        assert_eq!(put_one(&records, Rule::Insert, record(new, 1, key, json!({}))).await, Written::Stored);
        let late = || record(old, 2, key, json!({}));
        assert_ne!(put_one(&records, rule, late()).await, Written::Stored, "{key}");
        records.delete(&dataset("d"), key).await.unwrap();
        assert_eq!(put_one(&records, rule, late()).await, Written::Stored, "{key}");
        let page = records.list(&dataset("d"), 10, None).await.unwrap().items;
        let stored = page.iter().find(|record| record.key == key).unwrap();
        assert_eq!(stored.writer, Some(Writer { job: old, row: 2 }), "{key}");
    }
}

/// A second delete and the delete of a missing key succeed like the first.
async fn a_delete_by_rule_spares_later_writers(records: impl RecordStore) {
    let [old, middle, new] = [(); 3].map(|()| JobId::generate());
    assert_eq!(put_one(&records, Rule::Insert, record(old, 1, "old", json!({}))).await, Written::Stored);
    assert_eq!(put_one(&records, Rule::Insert, record(middle, 9, "later", json!({}))).await, Written::Stored);
    assert_eq!(put_one(&records, Rule::Insert, record(new, 1, "new", json!({}))).await, Written::Stored);
    for _ in 0..2 {
        let rows = ["old", "later", "new", "missing"].map(|key| record(middle, 8, key, json!({})));
        let written = records.put(&dataset("d"), Rule::Delete, rows.into()).await;
        let superseded = |job, row| Written::Superseded(Writer { job, row });
        assert_eq!(written, [Written::Stored, superseded(middle, 9), superseded(new, 1), Written::Stored]);
        assert_eq!(keys(&records, &dataset("d")).await, ["later", "new"]);
    }
    assert_eq!(
        put_one(&records, Rule::Delete, record(middle, 9, "later", json!({}))).await,
        Written::Stored,
        "its own"
    );
    assert_eq!(keys(&records, &dataset("d")).await, ["new"]);
}

async fn an_update_creates_no_record(records: impl RecordStore) {
    let [old, middle, new] = [(); 3].map(|()| JobId::generate());
    let elsewhere = records.put(&dataset("e"), Rule::Update, vec![record(old, 1, "k", json!({}))]).await;
    assert_eq!(elsewhere, [Written::Missing]);
    assert_eq!(records.datasets(&dataset("e").tenant, 10, None).await.unwrap().items, []);
    put_one(&records, Rule::Insert, record(old, 1, "old", json!({}))).await;
    put_one(&records, Rule::Insert, record(new, 1, "new", json!({}))).await;
    for _ in 0..2 {
        let rows = ["old", "new", "missing"].map(|key| record(middle, 8, key, json!({ "a": 1 })));
        let written = records.put(&dataset("d"), Rule::Update, rows.into()).await;
        let superseded = Written::Superseded(Writer { job: new, row: 1 });
        assert_eq!(written, [Written::Stored, superseded, Written::Missing]);
        assert_eq!(keys(&records, &dataset("d")).await, ["new", "old"]);
    }
    let stored = records.list(&dataset("d"), 10, None).await.unwrap().items;
    let updated = stored.iter().find(|record| record.key == "old").unwrap();
    assert_eq!((updated.writer, &updated.record["a"]), (Some(Writer { job: middle, row: 8 }), &json!(1)));
}

#[tokio::test]
async fn a_delete_survives_a_lost_reply_and_reports_a_table_without_capacity_as_busy() {
    let local = Local::start().await;
    local.records().await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let records = DynamoRecords::new(aws(&faults.endpoint).dynamodb(), &local.name);
    put_one(&records, Rule::Insert, record(JobId::generate(), 1, "k", json!({}))).await;
    for (code, is_busy) in [("ProvisionedThroughputExceededException", true), ("AccessDeniedException", false)] {
        faults.refuse("dynamodb", "DeleteItem", 1_000, code).unwrap();
        assert_eq!(records.delete(&dataset("d"), "k").await.unwrap_err().is_busy(), is_busy, "{code}");
    }
    assert_eq!(keys(&records, &dataset("d")).await, ["k"]);
    faults.lose_replies("dynamodb", "DeleteItem", 1).unwrap();
    records.delete(&dataset("d"), "k").await.unwrap();
    assert_eq!(keys(&records, &dataset("d")).await, [""; 0]);
}
