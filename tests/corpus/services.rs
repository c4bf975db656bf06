//! Jobs over services in memory, from the create message to the report.

use std::collections::BTreeMap;

use complete_job::Completer;
use create_job::Splitter;
use longshore::chunk::{DefinitionCache, Mode, Worker};
use longshore::handler::Registry;
use longshore::job_types::builtin;
use longshore::pause_cache::PauseCache;
use longshore::ports::{Ports, report_file_keys};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, Reopen, Selection, SourceFile, deadline};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Queues, RecordStore, Reopened};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use prepare::{Preparer, Waits};
use serde_json::{Map, Value};

use crate::case::Case;

const TENANT: TenantId = TenantId::from_static("acme");

/// Bytes of a part of a report's file.
const PART_BYTES: usize = 1 << 20;

const NO_DEADLINE: Timestamp = Timestamp(i64::MAX);

/// The services of one file's jobs.
pub(crate) struct Services {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    records: MemoryRecords,
    registry: Registry,
}

/// A row of a report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct ReportedRow {
    pub(crate) number: u64,
    pub(crate) sheet_row: Option<u64>,
    pub(crate) cells: Vec<String>,
    pub(crate) code: String,
}

impl Services {
    pub(crate) fn new() -> Self {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        let records = MemoryRecords::default();
        let registry = builtin(records.clone(), files.clone());
        Self { ports: Ports { store, queues, files }, records, registry }
    }

    async fn upload(&self, name: &str, format: Format, bytes: Vec<u8>) -> SourceFile {
        let key = format!("uploads/{TENANT}/{}", FileGuid::generate());
        self.ports.files.put(&key, bytes);
        let info = self.ports.files.info(&key).await.unwrap().unwrap();
        SourceFile::new(key, info, format, name)
    }

    /// Imports a file with these options.
    pub(crate) async fn import(&self, case: &Case, options: &Value) -> Job {
        let source = self.upload(&case.name, case.format(), case.bytes()).await;
        let job = Job::waiting(JobId::generate(), TENANT, "import", Timestamp::now());
        let job = Job { source: Some(source.into()), ..job };
        let definition =
            Definition { given_reading: case.given(), sheet: case.sheet(), ..Definition::new(options.clone()) };
        self.ports.store.create_job(&job, &definition, None).await.unwrap();
        self.ports.queues.send_create(&CreateMessage::new(&job)).await.unwrap();
        self.run(&job).await
    }

    /// Retries a job with a corrected file.
    pub(crate) async fn correct(&self, job: &Job, corrected: Vec<u8>) -> Job {
        let file = self.upload("failed.csv", Format::Csv, corrected).await;
        let (at, selection) = (Timestamp::now(), Selection::Corrected(file));
        let deadline_at = deadline(at, 86_400, i64::MAX);
        let reopen = Reopen { generation: job.generation, at, deadline_at, selection, registration: None };
        let Reopened::Made(job) = self.ports.store.reopen(job, &reopen).await.unwrap() else {
            panic!("the job cannot be retried: {job:?}")
        };
        self.ports.queues.send_create(&CreateMessage::new(&job)).await.unwrap();
        self.run(&job).await
    }

    /// Processes all messages until the job has ended.
    async fn run(&self, job: &Job) -> Job {
        let (ports, registry, clock) = (&self.ports, &self.registry, Timestamp::now);
        let definitions = DefinitionCache::default();
        loop {
            let mut is_idle = true;
            for message in ports.queues.take_creates() {
                is_idle = false;
                Splitter { ports, registry, clock }.split(&message, NO_DEADLINE).await.unwrap();
            }
            for message in ports.queues.take_prepares() {
                is_idle = false;
                let delivery = longshore::batch::Delivery { deadline: NO_DEADLINE, failures: 0, sent_at: None };
                Preparer { ports, waits: Waits::Asynchronously, max_file_bytes: 1 << 30, clock }
                    .deliver(&message, delivery)
                    .await
                    .unwrap();
            }
            for sent in ports.queues.take_chunks() {
                is_idle = false;
                let worker = Worker {
                    ports,
                    registry,
                    definitions: &definitions,
                    pauses: &PauseCache::default(),
                    retry_base_s: 0,
                    clock,
                    meter: Default::default(),
                };
                worker.work(&sent.message, Mode::Work, NO_DEADLINE).await.unwrap();
            }
            for message in ports.queues.take_completes() {
                is_idle = false;
                let completer =
                    Completer { ports, stop_grace_ms: 0, deadline: NO_DEADLINE, part_bytes: PART_BYTES, clock };
                completer.complete(&message).await.unwrap();
            }
            if is_idle {
                let job = ports.store.job(job.job_id).await.unwrap().unwrap();
                assert!(job.status.is_final(), "the job has not ended: {job:?}");
                return job;
            }
        }
    }

    pub(crate) async fn definition(&self, job: &Job) -> Definition {
        self.ports.store.definition(job.job_id).await.unwrap().unwrap()
    }

    /// The records of the dataset by their keys.
    pub(crate) async fn records(&self) -> BTreeMap<String, Map<String, Value>> {
        let dataset = Dataset { tenant: TENANT, name: "corpus".into() };
        let mut records = BTreeMap::new();
        let mut cursor = None;
        loop {
            let page = self.records.list(&dataset, 1_000, cursor.as_deref()).await.unwrap();
            records.extend(page.items.into_iter().map(|record| (record.key, record.record)));
            match page.next {
                Some(next) => cursor = Some(next),
                None => return records,
            }
        }
    }

    /// The file of the failed rows, if there is one.
    pub(crate) fn failed_file(&self, job: &Job) -> Option<Vec<u8>> {
        report_file_keys(job, "failed.csv").iter().find_map(|key| self.ports.files.get(key))
    }

    /// The failed rows.
    pub(crate) fn failed(&self, job: &Job) -> Vec<ReportedRow> {
        let Some(file) = self.failed_file(job) else { return Vec::new() };
        let has_sheet_row = job.file().is_some_and(SourceFile::is_sheet);
        let own_from = 1 + usize::from(has_sheet_row);
        let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(file.as_slice());
        let rows = reader.records().map(|record| {
            let cells: Vec<_> = record.unwrap().iter().map(str::to_owned).collect();
            let own_to = cells.len() - 3;
            ReportedRow {
                number: cells[0].parse().unwrap(),
                sheet_row: cells[1].parse().ok().filter(|_| has_sheet_row),
                cells: cells[own_from..own_to].to_vec(),
                code: cells[own_to].clone(),
            }
        });
        rows.collect()
    }
}
