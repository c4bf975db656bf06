//! Previous versions of records are stored before the records are overwritten, each once, and a batch of new keys makes
//! no further call.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use longshore_domain::dataset::Dataset;
use longshore_domain::history::PreviousVersion;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{
    Files, KnownVersions, NewRecord, Overwrite, PortResult, Read, RecordStore, RecordVersions, Revert,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Map, Value, json};

use super::{JobFolder, WriteAhead};

/// The records, the calls made so far, and the writes of others between a read and the overwrite that follows it.
#[derive(Clone, Default)]
struct Spied {
    records: MemoryRecords,
    calls: Arc<Mutex<Vec<&'static str>>>,
    meanwhile: Arc<Mutex<Vec<NewRecord>>>,
}

impl Spied {
    fn note(&self, call: &'static str) {
        self.calls.lock().unwrap().push(call);
    }
}

impl RecordVersions for Spied {
    async fn insert_new(&self, into: &Dataset, records: &[&NewRecord]) -> Vec<Written> {
        self.note("insert");
        self.records.insert_new(into, records).await
    }

    async fn read_versions(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownVersions> {
        self.note("read");
        let versions = self.records.read_versions(of, keys).await;
        let meanwhile = self.meanwhile.lock().unwrap().pop();
        if let Some(record) = meanwhile {
            assert_eq!(self.records.put(of, Rule::Upsert, vec![record]).await, [Written::Stored]);
        }
        versions
    }

    async fn overwrite(&self, into: &Dataset, records: &[Overwrite<'_>]) -> Vec<Written> {
        self.note("overwrite");
        self.records.overwrite(into, records).await
    }

    async fn revert(&self, of: &Dataset, reverts: &[Revert<'_>]) -> Vec<Written> {
        self.records.revert(of, reverts).await
    }
}

/// An import into one dataset, and its files.
#[derive(Default)]
struct Imports {
    store: Spied,
    files: MemoryFiles,
    mostly_present: AtomicBool,
}

fn tenant() -> TenantId {
    TenantId::from_static("t")
}

fn dataset() -> Dataset {
    Dataset { tenant: tenant(), name: "d".into() }
}

fn record(job: JobId, row: u64, key: &str) -> NewRecord {
    let data: Map<String, Value> = [("row".to_owned(), json!(row))].into_iter().collect();
    NewRecord { key: key.into(), data, writer: Writer { job, row } }
}

impl Imports {
    fn put(&self, rule: Rule, job: JobId, rows: &[(u64, &str)]) -> Vec<Written> {
        self.store.calls.lock().unwrap().clear();
        let (tenant, dataset) = (tenant(), dataset());
        let write = WriteAhead {
            records: &self.store,
            files: &self.files,
            folder: JobFolder { tenant: &tenant, id: job },
            dataset: &dataset,
            rule,
            mostly_present: &self.mostly_present,
        };
        let records: Vec<_> = rows.iter().map(|(row, key)| record(job, *row, key)).collect();
        block_on(write.put(&records))
    }

    fn calls(&self) -> Vec<&'static str> {
        self.store.calls.lock().unwrap().clone()
    }

    /// The previous version of a record, read from its place.
    fn previous(&self, key: &str) -> Option<PreviousVersion> {
        let place = self.store.records.versions(&dataset())[key].previous.clone()?;
        let file = JobFolder { tenant: &tenant(), id: place.job }.versions_key(&place.file);
        let Ok(Read::Found(bytes)) = block_on(self.files.read(&file, None, None)) else { panic!("{file} is missing") };
        Some(serde_json::from_slice(&bytes[place.start as usize..place.end as usize]).unwrap())
    }

    fn rows(&self) -> BTreeMap<String, u64> {
        let versions = self.store.records.versions(&dataset());
        versions.into_iter().map(|(key, version)| (key, version.data["row"].as_u64().unwrap())).collect()
    }
}

#[test]
fn new_keys_take_one_call_and_no_file() {
    let (imports, job) = (Imports::default(), JobId::generate());
    assert_eq!(imports.put(Rule::Upsert, job, &[(1, "a"), (2, "b")]), [Written::Stored, Written::Stored]);
    assert_eq!(imports.calls(), ["insert"]);
    let versions = imports.store.records.versions(&dataset());
    assert!(versions.values().all(|version| version.created_by == Some(job) && version.previous.is_none()));
}

#[test]
fn an_overwritten_record_is_stored_before_and_keeps_its_creator() {
    let (imports, [first, second, third]) = (Imports::default(), [(); 3].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b"), (3, "c")]);
    imports.put(Rule::Upsert, second, &[(7, "a"), (8, "n")]);
    assert_eq!(imports.calls(), ["insert", "read", "overwrite"]);
    imports.put(Rule::Update, third, &[(9, "a")]);
    assert_eq!(imports.calls(), ["read", "overwrite"]);
    let last = imports.previous("a").unwrap();
    assert_eq!((last.writer.as_str(), &last.data["row"]), (&*format!("{second}#{:020}", 7), &json!(7)));
    assert_eq!(last.created_by, Some(first));
    let before = longshore_domain::history::VersionPlace::parse(&last.previous.unwrap()).unwrap();
    assert_eq!(before.job, second, "the place of the version before that");
    assert_eq!(imports.store.records.versions(&dataset())["a"].created_by, Some(first));
    assert_eq!(imports.previous("b"), None);
}

#[test]
fn a_batch_after_one_of_existing_keys_begins_with_the_read() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b")]);
    imports.put(Rule::Upsert, second, &[(1, "a"), (2, "b")]);
    assert_eq!(imports.calls(), ["insert", "read", "overwrite"]);
    imports.put(Rule::Upsert, second, &[(3, "a"), (4, "b"), (5, "n")]);
    assert_eq!(imports.calls(), ["read", "overwrite", "insert"]);
    imports.put(Rule::Upsert, second, &[(6, "o"), (7, "p")]);
    assert_eq!(imports.calls(), ["read", "insert"]);
    imports.put(Rule::Upsert, second, &[(8, "q"), (9, "r"), (10, "a")]);
    assert_eq!(imports.calls(), ["insert", "read", "overwrite"], "most keys were new");
    imports.put(Rule::Upsert, second, &[(11, "s")]);
    assert_eq!(imports.calls(), ["insert"], "still");
}

#[test]
fn a_jobs_own_write_never_becomes_a_previous_version() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a")]);
    for row in [4, 4, 6, 5] {
        imports.put(Rule::Upsert, second, &[(row, "a"), (row + 10, "new")]);
    }
    assert_eq!(imports.rows()["a"], 6);
    assert_eq!(imports.previous("a").unwrap().data["row"], json!(1));
    assert_eq!(imports.previous("new"), None);
    assert_eq!(imports.store.records.versions(&dataset())["new"].created_by, Some(second));
}

#[test]
fn a_record_that_changes_after_the_read_is_read_and_stored_again() {
    for rule in [Rule::Upsert, Rule::Update] {
        let (imports, [first, second, third]) = (Imports::default(), [(); 3].map(|()| JobId::generate()));
        imports.put(Rule::Upsert, first, &[(1, "a")]);
        imports.store.meanwhile.lock().unwrap().push(record(second, 2, "a"));
        assert_eq!(imports.put(rule, third, &[(3, "a")]), [Written::Stored]);
        assert_eq!(imports.previous("a").unwrap().data["row"], json!(2), "{rule:?}");
    }
}

#[test]
fn a_record_that_always_changes_is_offered_again() {
    let (imports, jobs) = (Imports::default(), [(); 6].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, jobs[0], &[(1, "a")]);
    imports.store.meanwhile.lock().unwrap().extend((1..5).rev().map(|n| record(jobs[n], 1, "a")));
    assert_eq!(imports.put(Rule::Upsert, jobs[5], &[(3, "a")]), [Written::Changed]);
}

#[test]
fn a_record_without_an_import_and_a_later_writer_stay() {
    let (imports, [old, new]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.store.records.write_directly(&dataset(), "direct", Map::new());
    imports.put(Rule::Upsert, new, &[(1, "late")]);
    let written = imports.put(Rule::Upsert, old, &[(1, "direct"), (2, "late")]);
    assert_eq!(written, [Written::not_imported(), Written::Superseded(Writer { job: new, row: 1 })]);
    assert_eq!(imports.put(Rule::Update, new, &[(1, "missing")]), [Written::Missing]);
}
