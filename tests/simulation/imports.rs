//! The production import over records in memory, whose single writes can be interrupted, refused and repeated.
//!
//! Each key has one winner, which is the writer of the record, regardless of the faults of workers and of other imports
//! into the same dataset. Updates and deletes begin with the records of [`records`]. Their effects are in
//! `import_effects`.

use std::sync::Arc;

use futures::FutureExt;
use longshore::field_error::FieldError;
use longshore::handler::{
    AnyRecordReader, CheckedHeader, Header, ItemKey, JobContext, JobType, Outcome, Record, Rejection, TypeLimits,
};
use longshore::job_types::import::{Import, ImportOptions, Row};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::ports::{
    DatasetInfo, KeyPage, KeyWalk, KnownRecords, ListError, NewRecord, Page, PortResult, RecordReader, RecordStore,
    StoredRecord,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Map, Value, json};

pub(crate) use crate::import_effects::check;

use crate::clock::clock;
use crate::exports;
use crate::faults::{Fault, after, again, before};
use crate::lineage::{Origin, observed};
use crate::pauses;
use crate::plan::TENANTS;
use crate::rows::{ACTIONS, FATAL, NEVER, RETRY};
use crate::stepwise::Stepwise;
use crate::unguarded::{Unguarded, without};

/// Keys that no record has before the first import.
pub(crate) const MISSING: [usize; 2] = [NEVER, FATAL];
/// Key of a record whose writer is later than every import.
pub(crate) const LATER: usize = RETRY;

/// The records before the first import: in the datasets of updates and deletes, most keys have one.
pub(crate) fn records() -> MemoryRecords {
    let records = MemoryRecords::default().with_clock(clock);
    let job = |digit: &str| {
        JobId::parse(&format!("{0}-{1}-7{2}-b{2}-{0}{1}", digit.repeat(8), digit.repeat(4), digit.repeat(3)))
    };
    let [early, later] = ["0", "f"].map(|digit| job(digit).expect("a job id"));
    for (tenant, rule) in TENANTS.iter().flat_map(|tenant| [(tenant, Rule::Update), (tenant, Rule::Delete)]) {
        let keys = (0..ACTIONS.len()).filter(|action| !MISSING.contains(action));
        let record = |action: usize| NewRecord {
            key: ACTIONS[action].into(),
            data: Map::new(),
            writer: Writer { job: if action == LATER { later } else { early }, row: 1 },
        };
        let into = dataset(TenantId::from_static(tenant), rule);
        let written = records.put(&into, Rule::Insert, keys.map(record).collect());
        written.now_or_never().expect("records in memory never wait");
    }
    records
}

/// The dataset of an import. Imports with the same mode and tenant share it.
pub(crate) fn dataset(tenant: TenantId, rule: Rule) -> Dataset {
    Dataset { tenant, name: mode(rule).into() }
}

/// Records whose single writes can be interrupted, refused and repeated.
pub(crate) type Records = Stepwise<Unguarded<MemoryRecords>>;

/// The files of the previous versions.
pub(crate) type Stored = Stepwise<Unguarded<MemoryFiles>>;

/// The records that jobs over a dataset read.
pub(crate) fn reader(records: &MemoryRecords) -> Arc<dyn AnyRecordReader> {
    Arc::new(Stepwise(Unguarded(records.clone())))
}

/// The production import, in chunks of few rows. A row's action is its key, so many rows share a key.
pub(crate) struct SmallImport(Import<Records, Stored>);

impl SmallImport {
    pub(crate) fn into(records: &MemoryRecords, files: &MemoryFiles) -> Self {
        Self(Import::new(Arc::new(Stepwise(Unguarded(records.clone()))), Stepwise(Unguarded(files.clone()))))
    }
}

impl JobType for SmallImport {
    const NAME: &'static str = "import";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 5, batch_items: 3, item_retries: 2, ..TypeLimits::DEFAULT };
    type Options = ImportOptions;
    type Item = Row;
    type Output = ();

    fn check(&self, options: &ImportOptions) -> Vec<FieldError> {
        self.0.check(options)
    }

    fn check_header(&self, options: &ImportOptions, header: &Header<'_>) -> Result<CheckedHeader, JobError> {
        self.0.check_header(options, header)
    }

    fn tolerance(&self, options: &ImportOptions) -> Tolerance {
        self.0.tolerance(options)
    }

    fn read(&self, options: &ImportOptions, record: &Record<'_>) -> Result<Row, Rejection> {
        self.0.read(options, record)
    }

    async fn process(&self, job: &JobContext, options: &ImportOptions, key: ItemKey, item: Row) -> Outcome {
        self.0.process(job, options, key, item).await
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        options: &ImportOptions,
        items: Vec<(ItemKey, Row)>,
    ) -> Vec<Outcome> {
        pauses::batch(Self::NAME, &job.tenant, self.0.process_batch(job, options, items)).await
    }
}

/// The mode of an import.
fn mode(rule: Rule) -> &'static str {
    match rule {
        Rule::Insert => "insert",
        Rule::Upsert => "upsert",
        Rule::Update => "update",
        Rule::Delete => "delete",
    }
}

/// The options of an import, with or without previous versions of the records that it overwrites.
pub(crate) fn options(rule: Rule, undo: bool) -> Value {
    json!({ "dataset": mode(rule), "key": "action", "mode": mode(rule), "undo": undo && rule != Rule::Delete })
}

/// The code of a row that the rule fails.
pub(crate) fn code(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::Insert => Some("duplicate_key"),
        Rule::Update => Some("key_not_found"),
        Rule::Upsert | Rule::Delete => None,
    }
}

/// Writes each record separately. A write can be throttled, have no response, or be executed twice.
impl RecordStore for Records {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let mut written = Vec::new();
        for record in records {
            let first = self.0.put(into, rule, vec![record.clone()]);
            written.push(one_write("put_record", first, self.0.put(into, rule, vec![record])).await);
        }
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        self.0.list(from, limit, cursor).await
    }

    async fn delete(&self, from: &Dataset, key: &str) -> PortResult<()> {
        self.0.delete(from, key).await
    }

    async fn datasets(&self, tenant: &TenantId, limit: usize, after: Option<&str>) -> PortResult<Page<DatasetInfo>> {
        self.0.datasets(tenant, limit, after).await
    }

    async fn find_dataset(&self, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
        self.0.find_dataset(dataset).await
    }
}

/// Number of keys or records in a read.
const FEW: usize = 4;

/// Reads for jobs over a dataset, of few records. A call can be throttled, or have no response. After a read, another
/// program can write to the dataset of an export.
impl RecordReader for Records {
    async fn walk_keys(&self, of: &Dataset, walk: &KeyWalk) -> PortResult<KeyPage> {
        let fault = before("walk_keys").await?;
        let mut page = RecordReader::walk_keys(&self.0.0, of, walk).await?;
        if page.keys.len() > FEW {
            page.keys.truncate(FEW);
            page.next = page.keys.last().cloned();
        }
        exports::disturb(&self.0.0, of);
        after("walk_keys", fault).await?;
        Ok(page)
    }

    async fn read_records(&self, of: &Dataset, keys: &[String]) -> PortResult<KnownRecords> {
        let fault = before("read_records").await?;
        let known = FEW.min(keys.len());
        let KnownRecords { records, .. } = RecordReader::read_records(&self.0.0, of, &keys[..known]).await?;
        exports::disturb(&self.0.0, of);
        after("read_records", fault).await?;
        Ok(KnownRecords { records, known, average_bytes: 0 })
    }
}

/// Writes one record. The write can be throttled, have no response, or be executed a second time.
pub(crate) async fn one_write(
    name: &'static str,
    first: impl Future<Output = Vec<Written>>,
    second: impl Future<Output = Vec<Written>>,
) -> Written {
    let Ok(fault) = before(name).await else { return Written::Throttled("no capacity".into()) };
    let mut written = first.await;
    if fault == Fault::SentTwice {
        again(name).await;
        written = second.await;
    }
    match after(name, fault).await {
        Ok(()) => written.pop().unwrap_or(Written::Untried),
        Err(_) => Written::Unknown("no answer".into()),
    }
}

/// Name of the condition that the table follows the rule of an insert.
const BY_RULE: &str = "records-by-their-rule";
/// Name of the condition that an update creates no record.
const EXISTING: &str = "updates-of-existing-records";
/// Name of the condition that the record of a later writer is not deleted.
const NOT_LATER: &str = "deletes-of-no-later-writer";

impl RecordStore for Unguarded<MemoryRecords> {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let is_unguarded = match rule {
            Rule::Insert => without(BY_RULE),
            Rule::Update => without(EXISTING),
            Rule::Upsert | Rule::Delete => false,
        };
        let keys = records.iter().map(|record| (record.key.clone(), Origin::Import)).collect();
        let is_unconditional = rule == Rule::Delete && without(NOT_LATER);
        let write = async {
            for record in records.iter().filter(|_| is_unconditional) {
                self.0.delete(into, &record.key).await.expect("records in memory never fail");
            }
            self.0.put(into, if is_unguarded { Rule::Upsert } else { rule }, records.clone()).await
        };
        observed(&self.0, into, keys, write).await
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        self.0.list(from, limit, cursor).await
    }

    async fn delete(&self, from: &Dataset, key: &str) -> PortResult<()> {
        self.0.delete(from, key).await
    }

    async fn datasets(&self, tenant: &TenantId, limit: usize, after: Option<&str>) -> PortResult<Page<DatasetInfo>> {
        self.0.datasets(tenant, limit, after).await
    }

    async fn find_dataset(&self, dataset: &Dataset) -> PortResult<Option<DatasetInfo>> {
        self.0.find_dataset(dataset).await
    }
}
