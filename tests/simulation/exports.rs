//! The production export, in chunks of few records, while another program writes to its dataset.
//!
//! After each read of the dataset, a record can be changed, added or removed. Each version of a record has its own
//! number, so the checks know which version is in the results.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Record, Rejection, ResultRow, TypeLimits};
use longshore::job_types::export::{Export, ExportOptions};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, JobError, Source};
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::results::{ColumnsFrom, ResultColumn, ResultFormat, ResultsForm};
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::MemoryRecords;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::faults::{count_fault, random_below};
use crate::pauses;

/// The history of a dataset since its export was created.
#[derive(Default)]
struct History {
    /// Versions of each key.
    versions: BTreeMap<String, BTreeSet<u64>>,
    /// Keys that had no record at some time.
    absent: BTreeSet<String>,
    last_version: u64,
}

thread_local!(static HISTORIES: RefCell<BTreeMap<String, History>> = const { RefCell::new(BTreeMap::new()) });

/// Resets the state at the beginning of a run.
pub(crate) fn begin() {
    HISTORIES.take();
}

/// The production export in chunks of few records.
pub(crate) struct SmallExport;

impl JobType for SmallExport {
    const NAME: &'static str = Export::NAME;
    const INPUT: Input = Export::INPUT;
    const ROW: ResultRow = Export::ROW;
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 5, batch_items: 3, item_retries: 2, ..TypeLimits::DEFAULT };
    type Options = ExportOptions;
    type Item = Box<RawValue>;
    type Output = Box<RawValue>;

    fn read(&self, options: &ExportOptions, record: &Record<'_>) -> Result<Box<RawValue>, Rejection> {
        Export.read(options, record)
    }

    async fn process(
        &self,
        job: &JobContext,
        options: &ExportOptions,
        key: ItemKey,
        item: Box<RawValue>,
    ) -> Outcome<Box<RawValue>> {
        Export.process(job, options, key, item).await
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        options: &ExportOptions,
        items: Vec<(ItemKey, Box<RawValue>)>,
    ) -> Vec<Outcome<Box<RawValue>>> {
        pauses::batch(Self::NAME, &job.tenant, Export.process_batch(job, options, items)).await
    }
}

/// The forms of the results of exports.
pub(crate) fn forms() -> [ResultsForm; 4] {
    let jsonl = ResultsForm { row: ResultRow::Plain, ..ResultsForm::default() };
    let column = |name: &str| ResultColumn { name: name.into(), heading: name.into() };
    let with = |columns_from, format| {
        let columns = vec![column("key"), column("version")];
        ResultsForm { columns, columns_from, format, ..jsonl.clone() }
    };
    [
        ResultsForm { format: ResultFormat::Csv, ..jsonl.clone() },
        ResultsForm { gzip: true, ..jsonl.clone() },
        with(ColumnsFrom::Request, ResultFormat::Jsonl),
        with(ColumnsFrom::Records, ResultFormat::Csv),
    ]
}

fn key(n: usize) -> String {
    format!("{n:04}-ok")
}

/// Writes the records of an export, and returns its source.
pub(crate) fn write(records: &MemoryRecords, job: &Job, count: usize) -> Source {
    let dataset = job.job_id.to_string();
    let into = Dataset { tenant: job.tenant.clone(), name: dataset.clone() };
    // The keys between those of the first records.
    let absent = (0..=count).map(|n| format!("{}-added", key(n))).collect();
    let history = History { absent, ..History::default() };
    HISTORIES.with_borrow_mut(|histories| histories.insert(dataset.clone(), history));
    (1..=count).for_each(|n| put(records, &into, key(n), json!({})));
    Source::Dataset(DatasetSource { dataset, updated_since: None })
}

/// Name of a property that the first records do not have.
const LATE: &str = "late";

/// Writes the next version of a record.
fn put(records: &MemoryRecords, into: &Dataset, key: String, data: Value) {
    HISTORIES.with_borrow_mut(|histories| {
        let history = histories.entry(into.name.clone()).or_default();
        history.last_version += 1;
        let version = history.last_version;
        history.versions.entry(key.clone()).or_default().insert(version);
        let writer = Writer { job: JobId::parse(&format!("ffffffff-ffff-7fff-bfff-{version:012}")).unwrap(), row: 1 };
        let Value::Object(mut data) = data else { panic!("a record is an object") };
        data.extend([("key".to_owned(), json!(key)), ("version".to_owned(), json!(version))]);
        let written = records.put(into, Rule::Upsert, vec![NewRecord { key, data, writer }]);
        written.now_or_never().expect("records in memory never wait");
    });
}

/// Changes, adds or removes a record of an exported dataset, at random. Other datasets stay as they are.
pub(crate) fn disturb(records: &MemoryRecords, of: &Dataset) {
    let keys = HISTORIES.with_borrow(|histories| {
        let history = histories.get(&of.name)?;
        Some(history.versions.keys().chain(&history.absent).cloned().collect::<Vec<_>>())
    });
    let Some(keys) = keys else { return };
    let key = keys[random_below(keys.len())].clone();
    match random_below(4) {
        0 => {
            count_fault("record written");
            put(records, of, key, json!({ LATE: true }));
        }
        1 => {
            count_fault("record removed");
            HISTORIES.with_borrow_mut(|histories| {
                histories.entry(of.name.clone()).or_default().absent.insert(key.clone());
            });
            records.delete(of, &key).now_or_never().expect("records in memory never wait").unwrap();
        }
        _ => {}
    }
}

/// The keys of the items of an export that have no output, by file.
pub(crate) struct Listed {
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) unprocessed: Vec<String>,
}

/// Checks that properties that have no column although they should are an issue, and only those.
pub(crate) fn check_issues(form: &ResultsForm, outputs: &[Value], issues: &[JobError]) {
    let is_left_out =
        form.columns_from == ColumnsFrom::Records && outputs.iter().any(|output| output.get(LATE).is_some());
    let is_reported = issues.iter().any(|issue| issue.code == "columns_left_out" && issue.message.contains(LATE));
    assert_eq!(is_reported, is_left_out, "properties without a column: {issues:?}");
}

/// Checks the results of an export: each record is a version that was in the dataset. No key is in two places. A record
/// that existed all the time is not missing if the walk has ended, and only one that did not is skipped.
pub(crate) fn check(job: &Job, outputs: &[Value], listed: &Listed) {
    let dataset = job.dataset().expect("an export has a dataset");
    HISTORIES.with_borrow(|histories| {
        let history = &histories[&dataset.name];
        let exported: Vec<_> = outputs.iter().map(|output| output["key"].as_str().expect("a key").to_owned()).collect();
        for (output, key) in outputs.iter().zip(&exported) {
            let version = output["version"].as_u64().expect("a version");
            assert!(history.versions[key].contains(&version), "no record was {output}");
        }
        assert!(job.generation > 0 || exported.is_sorted(), "an export is in the order of the keys: {exported:?}");
        let Listed { failed, skipped, unprocessed } = listed;
        assert!(skipped.iter().all(|key| history.absent.contains(key)), "a record was skipped: {skipped:?}");
        let all: Vec<_> = [&exported, failed, skipped, unprocessed].into_iter().flatten().collect();
        let keys: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(keys.len(), all.len(), "a key is in two places: {all:?}");
        if job.split.ended {
            let mut stable = history.versions.keys().filter(|key| !history.absent.contains(*key));
            assert!(stable.all(|key| keys.contains(key)), "a record is missing: {all:?}");
        }
    });
}
