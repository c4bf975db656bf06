//! Previous versions of records are stored before the records are overwritten, each once, and a batch of new keys makes
//! no further call.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::AtomicBool;

use futures::executor::block_on;
use longshore_domain::history::{PreviousVersion, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{Busy, Files, NewRecord, Read, Unavailable};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::{Map, Value, json};

use super::{JobFolder, WriteAhead};
use crate::job_types::spied::{Calls, SpiedFiles, SpiedRecords, clock, dataset};

/// An import into one dataset, and its files.
struct Imports {
    calls: Calls,
    store: SpiedRecords,
    files: SpiedFiles,
    mostly_present: AtomicBool,
}

fn tenant() -> TenantId {
    TenantId::from_static("t")
}

fn record(job: JobId, row: u64, key: &str) -> NewRecord {
    let data: Map<String, Value> = [("row".to_owned(), json!(row))].into_iter().collect();
    NewRecord { key: key.into(), data, writer: Writer { job, row } }
}

impl Default for Imports {
    fn default() -> Self {
        let calls = Calls::default();
        let store = SpiedRecords { calls: calls.clone(), ..SpiedRecords::default() };
        let files = SpiedFiles { calls: calls.clone(), ..SpiedFiles::default() };
        Self { calls, store, files, mostly_present: AtomicBool::new(false) }
    }
}

impl Imports {
    fn put(&self, rule: Rule, job: JobId, rows: &[(u64, &str)]) -> Vec<Written> {
        self.put_slowly("", rule, job, rows)
    }

    /// Writes rows while the calls of this name are slow.
    fn put_slowly(&self, slow: &'static str, rule: Rule, job: JobId, rows: &[(u64, &str)]) -> Vec<Written> {
        self.calls.restart(slow);
        let (tenant, dataset) = (tenant(), dataset());
        let write = WriteAhead {
            records: &self.store,
            files: &self.files,
            folder: JobFolder { tenant: &tenant, id: job },
            dataset: &dataset,
            rule,
            mostly_present: &self.mostly_present,
            clock,
        };
        let records: Vec<_> = rows.iter().map(|(row, key)| record(job, *row, key)).collect();
        block_on(write.put(&records))
    }

    fn calls(&self) -> Vec<&'static str> {
        self.calls.made()
    }

    /// The previous version of a record, read from its place.
    fn previous(&self, key: &str) -> Option<PreviousVersion> {
        let place = self.store.records.versions(&dataset())[key].previous.clone()?;
        let file = JobFolder { tenant: &tenant(), id: place.job }.versions_key(&place.file);
        let Ok(Read::Found(bytes)) = block_on(self.files.files.read(&file, None, None)) else {
            panic!("{file} is missing")
        };
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
    assert_eq!(imports.calls(), ["insert", "read", "write file", "overwrite"]);
    imports.put(Rule::Update, third, &[(9, "a")]);
    assert_eq!(imports.calls(), ["read", "write file", "overwrite"]);
    let last = imports.previous("a").unwrap();
    assert_eq!((last.writer.as_str(), &last.data["row"]), (&*format!("{second}#{:020}", 7), &json!(7)));
    assert_eq!(last.created_by, Some(first));
    let before = VersionPlace::parse(&last.previous.unwrap()).unwrap();
    assert_eq!(before.job, second, "the place of the version before that");
    assert_eq!(imports.store.records.versions(&dataset())["a"].created_by, Some(first));
    assert_eq!(imports.previous("b"), None);
}

#[test]
fn a_batch_after_one_of_existing_keys_begins_with_the_read() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b")]);
    imports.put(Rule::Upsert, second, &[(1, "a"), (2, "b")]);
    assert_eq!(imports.calls(), ["insert", "read", "write file", "overwrite"]);
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

/// All batches of a job write to one folder, and a name of eight random characters could be drawn twice.
#[test]
fn a_file_is_named_after_the_first_row_whose_previous_version_it_has() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b")]);
    imports.put(Rule::Upsert, second, &[(7, "new"), (80, "a"), (900, "b")]);
    let versions = imports.store.records.versions(&dataset());
    let places = ["a", "b"].map(|key| versions[key].previous.clone().unwrap());
    assert_eq!(places[0].file, places[1].file);
    assert!(places[0].file.ends_with("-80"), "{}", places[0]);
    assert_eq!(VersionPlace::parse(&places[0].to_string()).as_ref(), Some(&places[0]));
}

/// Three lost races would cost the row an attempt.
#[test]
fn rows_of_a_job_do_not_refuse_each_other() {
    for rule in [Rule::Upsert, Rule::Update] {
        let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
        imports.put(Rule::Upsert, first, &[(1, "a")]);
        imports.put(Rule::Upsert, second, &[(2, "a")]);
        imports.store.meanwhile.lock().unwrap().extend((3..9).rev().map(|row| record(second, row, "a")));
        assert_eq!(imports.put(rule, second, &[(9, "a")]), [Written::Stored]);
        assert_eq!(imports.calls().iter().filter(|call| **call == "overwrite").count(), 1, "{rule:?}");
        assert_eq!((imports.rows()["a"], imports.previous("a").unwrap().data["row"].clone()), (9, json!(1)));
        assert_eq!(imports.store.records.versions(&dataset())["a"].created_by, Some(first));
        imports.store.meanwhile.lock().unwrap().clear();
        // A later row of the job stays, and another job's record is stored first.
        imports.store.meanwhile.lock().unwrap().push(record(second, 30, "a"));
        assert_eq!(
            imports.put(rule, second, &[(20, "a")]),
            [Written::Superseded(Writer { job: second, row: 30 })],
            "{rule:?}"
        );
    }
}

/// A job can be stopped and end while a call of its worker waits. What comes after the call begins nothing.
#[test]
fn nothing_is_begun_after_a_call_that_took_too_long() {
    let (first, second) = (JobId::generate(), JobId::generate());
    let [insert, read, write_file, overwrite] = ["insert", "read", "write file", "overwrite"];
    for (slow, calls) in [
        (insert, vec![insert]),
        (read, vec![insert, read]),
        (write_file, vec![insert, read, write_file]),
        (overwrite, vec![insert, read, write_file, overwrite]),
    ] {
        let imports = Imports::default();
        imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b")]);
        // The overwrite of one of the rows is refused.
        imports.store.meanwhile.lock().unwrap().push(record(first, 9, "b"));
        let written = imports.put_slowly(slow, Rule::Upsert, second, &[(1, "a"), (2, "b"), (3, "new")]);
        assert_eq!(imports.calls(), calls);
        let is_written = slow == overwrite;
        assert!(matches!(written[0], Written::Throttled(_)) != is_written, "{slow}: {written:?}");
        assert_eq!(written[1..], [Written::Untried, Written::Stored], "{slow}");
        // The rows are written in the next batch.
        imports.store.meanwhile.lock().unwrap().clear();
        let again = imports.put(Rule::Upsert, second, &[(1, "a"), (2, "b")]);
        assert_eq!(again, [Written::Stored, Written::Stored], "{slow}");
    }
}

#[test]
fn known_results_are_kept_when_it_is_late() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, second, &[(1, "late"), (2, "mine")]);
    let written = imports.put_slowly("read", Rule::Update, first, &[(1, "late"), (2, "missing"), (3, "mine")]);
    let superseded = |row| Written::Superseded(Writer { job: second, row });
    assert_eq!(written, [superseded(1), Written::Missing, superseded(2)]);
}

#[test]
fn temporary_failures_cost_no_attempt() {
    let (imports, [first, second]) = (Imports::default(), [(); 2].map(|()| JobId::generate()));
    imports.put(Rule::Upsert, first, &[(1, "a"), (2, "b")]);
    let failures: [(Box<dyn Error + Send + Sync>, bool); 3] = [
        (Unavailable("no connection".into()).into(), true),
        (Busy("slow down".into()).into(), true),
        ("access denied".into(), false),
    ];
    for (source, is_temporary) in failures {
        *imports.files.failure.lock().unwrap() = Some(source);
        let written = imports.put(Rule::Upsert, second, &[(1, "a"), (2, "b")]);
        for written in written {
            assert_eq!(matches!(written, Written::Throttled(_)), is_temporary, "{written:?}");
            assert_eq!(matches!(written, Written::Unknown(_)), !is_temporary, "{written:?}");
        }
        assert_eq!(imports.rows(), [("a".into(), 1), ("b".into(), 2)].into());
    }
}
