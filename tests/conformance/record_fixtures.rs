//! Records of the conformance tests, and the writes that most of them begin with.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::Value;

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

pub(crate) async fn row_of(records: &impl RecordStore, key: &str) -> Option<Writer> {
    let page = records.list(&dataset("d"), 1_000, None).await.unwrap();
    page.items.into_iter().find(|record| record.key == key).and_then(|record| record.writer)
}
