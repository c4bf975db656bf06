//! A job over in-memory services, split as by the splitter.

use std::collections::BTreeMap;

use complete_job::{CompleteEnd, CompleteError, Completer};
use futures::FutureExt;
use longshore::header::read_header;
use longshore::ports::{JobFolder, Ports, report_file_keys};
use longshore::receipt::{RECEIPT_NAME, Receipt};
use longshore::result::ResultDocument;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, JobError, JobTimes, SourceFile, Status, Stop, Tolerance, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, JobTransitions, Ledger};
use longshore_domain::records::{Format, Reading};
use longshore_domain::results::ResultsForm;
use longshore_domain::split::{ChunkLimits, Chunker, chunks_in_group};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryQueues, MemoryStore};
use serde_json::{Value, json};

use crate::hooked::Hooked;

pub(crate) const SOURCE_KEY: &str = "uploads/default/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a10";

pub(crate) type TestPorts = Ports<MemoryStore, MemoryQueues, Hooked>;

/// Resolves a future over in-memory services, which never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("calls of in-memory services never wait")
}

#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) ports: TestPorts,
    pub(crate) id: JobId,
    /// Bytes of a part of a report's file.
    pub(crate) part_bytes: usize,
    /// Bytes after which a chunk is cut.
    pub(crate) chunk_bytes: u64,
}

/// The committed chunks of a job, by group and number.
pub(crate) type Plans = Vec<(ChunkId, ChunkPlan)>;

impl Fixture {
    /// A begun job over a CSV file.
    pub(crate) fn csv(text: &str) -> Self {
        Self::of_file(text.as_bytes(), Format::Csv, Tolerance::default())
    }

    pub(crate) fn of_file(bytes: &[u8], format: Format, tolerance: Tolerance) -> Self {
        let ports =
            TestPorts { store: MemoryStore::default(), queues: MemoryQueues::default(), files: Hooked::default() };
        ports.files.inner.put(SOURCE_KEY, bytes);
        let info = now(ports.files.info(SOURCE_KEY)).unwrap().unwrap();
        let source = SourceFile::new(SOURCE_KEY, info, format, "people.csv");
        Self::stored(ports, Some(source), tolerance, json!({}))
    }

    /// A job whose only item is its options.
    pub(crate) fn of_options(options: Value) -> Self {
        let ports =
            TestPorts { store: MemoryStore::default(), queues: MemoryQueues::default(), files: Hooked::default() };
        Self::stored(ports, None, Tolerance::default(), options)
    }

    /// A begun job over a CSV file whose items have outputs, with this form of the results.
    pub(crate) fn with_results(text: &str, form: ResultsForm) -> Self {
        let other = Self::csv(text);
        let (job, ports) = (other.job(), other.ports);
        let ports = TestPorts { store: MemoryStore::default(), ..ports };
        let given_reading = Reading::default().into();
        let definition = Definition { given_reading, results: Some(form), ..Definition::new(json!({})) };
        Self::defined(ports, waiting(job.file().cloned(), Tolerance::default()), &definition)
    }

    fn stored(ports: TestPorts, source: Option<SourceFile>, tolerance: Tolerance, options: Value) -> Self {
        let given_reading = Reading::default().into();
        Self::defined(ports, waiting(source, tolerance), &Definition { given_reading, ..Definition::new(options) })
    }

    fn defined(ports: TestPorts, job: Job, definition: &Definition) -> Self {
        let fixture = Self { ports, id: job.job_id, part_bytes: 8 << 20, chunk_bytes: 1 << 20 };
        now(fixture.ports.store.create_job(&job, definition, None)).unwrap();
        job_after(now(fixture.ports.store.begin(job.job_id, 0, Timestamp(2_000))).unwrap());
        fixture
    }

    pub(crate) fn folder(&self) -> JobFolder<'static> {
        JobFolder { tenant: &DEFAULT_TENANT, id: self.id }
    }

    pub(crate) fn job(&self) -> Job {
        now(self.ports.store.job(self.id)).unwrap().unwrap()
    }

    /// Cuts the file into chunks of `chunk_items` items. Commits the first `groups` groups, or all of them and the end
    /// of the split.
    pub(crate) fn split(&self, chunk_items: u32, groups: Option<usize>) -> Plans {
        let source = self.job().file().unwrap().clone();
        let given = Reading::default().into();
        let header = now(read_header(&self.ports.files, &source, given, given)).unwrap();
        if let Some(columns) = &header.columns {
            now(self.ports.store.put_columns(self.id, columns, header.reading, None)).unwrap();
        }
        let source = SourceFile { reading: header.reading, ..source };
        let bytes = self.ports.files.inner.get(SOURCE_KEY).unwrap();
        let limits = ChunkLimits { items: chunk_items, bytes: self.chunk_bytes, item_bytes: 40 };
        let (mut chunker, mut plans) = (Chunker::new(limits, 1), Vec::new());
        for mut span in source.records(&bytes[header.start as usize..]) {
            span.start += header.start;
            span.content_end += header.start;
            span.end += header.start;
            chunker.push(span, &mut |plan| plans.push(plan));
        }
        plans.extend(chunker.finish());
        self.commit(plans, header.reading, groups)
    }

    /// Commits the only chunk of a job without a file.
    pub(crate) fn split_options(&self) -> Plans {
        self.commit(vec![ChunkPlan { first: 1, items: 1, start: 0, end: 0, oversize: false, keys: None }], None, None)
    }

    fn commit(&self, plans: Vec<ChunkPlan>, reading: Option<Reading>, groups: Option<usize>) -> Plans {
        let (mut rest, mut committed, mut number) = (plans.as_slice(), Plans::new(), 0);
        while !rest.is_empty() && groups.is_none_or(|groups| groups > number as usize) {
            let (chunks, after) = rest.split_at(rest.len().min(chunks_in_group(number)));
            let manifest = Manifest { group: number, chunks: chunks.to_vec() };
            let end = chunks[chunks.len() - 1].end;
            let plan = GroupPlan::from_file(0, manifest.clone(), self.job().split.offset..end);
            let plan = GroupPlan { reading: reading.filter(|_| number == 0), ..plan };
            job_after(now(self.ports.store.commit_group(&self.job(), &plan, Timestamp(3_000))).unwrap());
            committed.extend((0..).zip(chunks).map(|(n, plan)| (ChunkId::new(number, n), plan.clone())));
            (rest, number) = (after, number + 1);
        }
        if groups.is_none() {
            job_after(now(self.ports.store.end_split(&self.job(), number, &[], Timestamp(4_000))).unwrap());
        }
        committed
    }

    /// Marks every group whose items have all ended as done.
    pub(crate) fn roll_up(&self) {
        let JobProgress { groups, .. } = now(self.ports.store.progress(self.id)).unwrap().unwrap();
        for group in groups.iter().filter(|group| group.is_done()) {
            job_after(now(self.ports.store.group_done(self.id, group.number, Timestamp(8_000))).unwrap());
        }
    }

    pub(crate) fn cancel(&self) {
        let error = Some(JobError::new("canceled", "canceled by the client"));
        let stop = Stop { status: Status::Canceled, error, at: Timestamp(9_000) };
        job_after(now(self.ports.store.stop(self.id, 0, &stop)).unwrap());
    }

    pub(crate) fn complete(&self) -> Result<CompleteEnd, CompleteError> {
        self.complete_at(|| Timestamp(60_000))
    }

    pub(crate) fn complete_at(&self, clock: fn() -> Timestamp) -> Result<CompleteEnd, CompleteError> {
        self.complete_until(Timestamp(i64::MAX), clock)
    }

    pub(crate) fn complete_until(
        &self,
        deadline: Timestamp,
        clock: fn() -> Timestamp,
    ) -> Result<CompleteEnd, CompleteError> {
        let message = CompleteMessage { job_id: self.id, generation: 0, resend: 0, step: 0, tenant: None, failures: 0 };
        self.block_on(deadline, clock, async |completer| completer.complete(&message).await)
    }

    /// Delivers a message after this number of failed deliveries.
    pub(crate) fn deliver(
        &self,
        message: &CompleteMessage,
        failures: u32,
        (deadline, clock): (Timestamp, fn() -> Timestamp),
    ) -> Result<CompleteEnd, CompleteError> {
        self.block_on(deadline, clock, async |completer| completer.deliver(message, failures).await)
    }

    fn block_on<T>(
        &self,
        deadline: Timestamp,
        clock: fn() -> Timestamp,
        act: impl AsyncFnOnce(Completer<'_, MemoryStore, MemoryQueues, Hooked>) -> T,
    ) -> T {
        let completer =
            Completer { ports: &self.ports, stop_grace_ms: 5_000, deadline, part_bytes: self.part_bytes, clock };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(act(completer))
    }

    /// Returns the attempt whose report the job names.
    pub(crate) fn attempt(&self) -> String {
        self.job().completion.report.unwrap().split('/').next().unwrap().to_owned()
    }

    /// Returns the key of a file of the report that the job names.
    pub(crate) fn key(&self, name: &str) -> String {
        let [whole, parts] = report_file_keys(&self.job(), name);
        if self.ports.files.inner.get(&whole).is_none() { parts } else { whole }
    }

    /// Returns the lines of a file of the report, header first.
    pub(crate) fn table(&self, name: &str) -> Option<Vec<Vec<String>>> {
        let bytes = self.ports.files.inner.get(&self.key(name))?;
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        let lines = reader.records().map(|r| r.expect("rectangular").iter().map(str::to_owned).collect());
        Some(lines.collect())
    }

    /// Returns the rows of a file of the report by item number, without that cell. Each number must occur once.
    pub(crate) fn rows(&self, name: &str) -> BTreeMap<u64, Vec<String>> {
        let lines = self.table(name).unwrap_or_default();
        let rows = lines.iter().skip(1).map(|row| (row[0].parse().unwrap(), row[1..].to_vec()));
        let numbers: Vec<u64> = rows.clone().map(|(n, _)| n).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{name}: {numbers:?}");
        rows.collect()
    }

    pub(crate) fn result(&self) -> ResultDocument {
        serde_json::from_slice(&self.ports.files.inner.get(&self.key("result.json")).unwrap()).unwrap()
    }

    pub(crate) fn receipt(&self) -> Receipt {
        serde_json::from_slice(&self.ports.files.inner.get(&self.key(RECEIPT_NAME)).unwrap()).unwrap()
    }

    /// Returns all files of all reports.
    pub(crate) fn report(&self) -> BTreeMap<String, Vec<u8>> {
        let files = &self.ports.files.inner;
        let keys = files.keys().into_iter().filter(|key| key.contains("/report/"));
        keys.map(|key| (key.clone(), files.get(&key).unwrap())).collect()
    }

    pub(crate) fn lose_source(&self) {
        self.ports.files.inner.remove(SOURCE_KEY);
    }
}

pub(crate) fn job_after(transition: Transition) -> Job {
    match transition {
        Transition::Made(job) => *job,
        Transition::Refused => panic!("a crafted transition was refused"),
    }
}

fn waiting(source: Option<SourceFile>, tolerance: Tolerance) -> Job {
    Job {
        source: source.map(Into::into),
        tolerance,
        issues: vec![JobError::new("unknown_column", "the column \"z\" is not in the schema")],
        times: JobTimes {
            deadline_at: Timestamp(3_600_000),
            expires_at: 86_400,
            ..JobTimes::accepted(Timestamp(1_000))
        },
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "probe", Timestamp(1_000))
    }
}
