//! The job types of a world, and the stores that they need besides the services.
//!
//! To add a handler, add a variant of [`Kind`] with its name, weight and options, and its job type in
//! [`Kinds::registry`]. If it has a store, add the store to [`Kinds`], wrapped in `Stepwise` like the others, so that
//! its calls are also refused, repeated and interrupted. [`Kinds::check`] checks the handler's effects in that store at
//! the end of each job. Rows request an action in the column `action`; add further columns in `rows::file_of`. Add the
//! handler's own failure codes to [`Kind::explains`].
//!
//! The import handler has records: each key has one winner, which is the writer of the record, regardless of the faults
//! of workers and of other imports into the same dataset.

use std::collections::BTreeMap;

use futures::FutureExt;
use longshore::field_error::FieldError;
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Record, Registry, Rejection, TypeLimits};
use longshore::job_types::import::{Import, ImportOptions, Row};
use longshore_domain::dataset::Dataset;
use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::ports::{DatasetInfo, ListError, NewRecord, Page, PortResult, RecordStore, StoredRecord};
use longshore_domain::results::{ResultFormat, ResultsForm};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::MemoryRecords;
use serde_json::{Value, json};

use crate::faults::{Fault, after, again, before};
use crate::handler::{self, Coarse, Enriching, Fine, Limited, Simulated};
use crate::report::Ended;
use crate::rng::Rng;
use crate::rows::{ACTIONS, OK, RETRY, bit};
use crate::stepwise::Stepwise;
use crate::unguarded::{Unguarded, without};

/// A job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) enum Kind {
    /// Chunks of three rows.
    #[default]
    Simulated,
    /// Chunks of three rows, with a concurrency limit.
    Limited,
    /// Chunks of one row, for many groups.
    Fine,
    /// Chunks of many rows, for many commits and continuations.
    Coarse,
    /// A handler with an output for each row that succeeds.
    Enriching,
    /// An import in which the first row of a key wins.
    Insert,
    /// An import in which the last row of a key wins.
    Upsert,
}

/// The job types of one world, with their stores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    records: MemoryRecords,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Simulated, Self::Limited, Self::Fine, Self::Coarse, Self::Insert, Self::Upsert, Self::Enriching];

    /// A random kind, by weight.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self::ALL[rng.weighted(&[35, 23, 9, 7, 8, 6, 12])]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Limited => "limited",
            Self::Fine => "fine",
            Self::Coarse => "coarse",
            Self::Enriching => "enriching",
            Self::Insert | Self::Upsert => "import",
        }
    }

    /// Returns the rule of an import, and `None` for the other job types.
    fn rule(self) -> Option<Rule> {
        match self {
            Self::Insert => Some(Rule::Insert),
            Self::Upsert => Some(Rule::Upsert),
            Self::Simulated | Self::Limited | Self::Fine | Self::Coarse | Self::Enriching => None,
        }
    }

    /// Returns true if rows have the outcomes that they name.
    pub(crate) fn obeys(self) -> bool {
        self.rule().is_none()
    }

    pub(crate) fn options(self, tolerated: Option<u64>) -> Value {
        self.rule().map_or_else(|| json!({ "max_failed": tolerated }), import_options)
    }

    /// Returns the form of the results, one of several; `None` if the rows have no output.
    pub(crate) fn results(self, variant: usize) -> Option<ResultsForm> {
        let jsonl = ResultsForm::default();
        let forms = [
            ResultsForm { format: ResultFormat::Csv, ..jsonl.clone() },
            ResultsForm { gzip: true, ..jsonl.clone() },
            jsonl.clone(),
            jsonl,
        ];
        (self == Self::Enriching).then(|| forms[variant % forms.len()].clone())
    }

    /// Returns true if any row can fail with this code, in addition to the codes of every handler.
    pub(crate) fn explains(self, code: &str) -> bool {
        match self.rule() {
            Some(rule) => code == "retries_exhausted" || (code == "duplicate_key" && rule == Rule::Insert),
            None => false,
        }
    }
}

impl Kinds {
    pub(crate) fn registry(&self) -> Registry {
        let registry = Registry::default().with(Simulated).with(Limited).with(Fine).with(Coarse).with(Enriching);
        registry.with(SmallImport::into(&self.records))
    }

    /// Checks the handler's effects at the end of a job.
    pub(crate) fn check(&self, kind: Kind, ended: &Ended<'_>) {
        let Ended { job, possible, succeeded, failed } = ended;
        assert_eq!(job.job_type, kind.name());
        assert!(succeeded.iter().all(|n| !failed.contains_key(n)), "a row has succeeded and failed");
        if let Some(rule) = kind.rule() {
            return check_import(&self.records, rule, ended);
        }
        for n in *succeeded {
            let can_succeed = possible[*n - 1] & (bit(OK) | bit(RETRY)) > 0;
            let has_succeeded = can_succeed && handler::has_succeeded(job.job_id, *n as u64);
            assert!(has_succeeded, "row {n} counts as succeeded, but no handler has returned ok");
        }
    }
}

/// Records whose single writes can be interrupted, refused and repeated.
type Records = Stepwise<Unguarded<MemoryRecords>>;

/// The production import, in chunks of few rows. A row's action is its key, so many rows share a key.
struct SmallImport(Import<Records>);

impl SmallImport {
    fn into(records: &MemoryRecords) -> Self {
        Self(Import::new(Stepwise(Unguarded(records.clone()))))
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

    fn check_columns(&self, options: &ImportOptions, columns: &[String]) -> Result<Vec<JobError>, JobError> {
        self.0.check_columns(options, columns)
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
        self.0.process_batch(job, options, items).await
    }
}

/// The dataset of an import. Imports with the same mode and tenant share it.
fn dataset(rule: Rule) -> &'static str {
    if rule == Rule::Insert { "insert" } else { "upsert" }
}

fn import_options(rule: Rule) -> Value {
    json!({ "dataset": dataset(rule), "key": "action", "mode": dataset(rule) })
}

/// Checks that the stored records agree with the outcomes of the rows.
fn check_import(records: &MemoryRecords, rule: Rule, ended: &Ended<'_>) {
    let Ended { job, possible, succeeded, failed } = ended;
    let dataset = Dataset { tenant: job.tenant.clone(), name: dataset(rule).into() };
    let stored = records.list(&dataset, 2 * ACTIONS.len(), None).now_or_never().unwrap().unwrap().items;
    let holders: BTreeMap<_, _> = stored.into_iter().filter_map(|record| Some((record.key, record.writer?))).collect();
    let is_possible = |row: usize, action: usize| possible[row - 1] & bit(action) > 0;
    let has_key = |row: usize, compare: &dyn Fn(Writer, Writer) -> bool| {
        let own = Writer { job: job.job_id, row: row as u64 };
        let mut keys = (0..ACTIONS.len()).filter(|action| is_possible(row, *action));
        keys.any(|action| holders.get(ACTIONS[action]).is_some_and(|holder| compare(*holder, own)))
    };
    for row in *succeeded {
        let is_written = match rule {
            Rule::Insert => has_key(*row, &|holder, own| holder == own),
            Rule::Upsert => has_key(*row, &|holder, own| holder >= own),
        };
        assert!(is_written, "row {row} has succeeded, but its key belongs to another row: {holders:?}");
    }
    let is_duplicate = |row: &usize| failed.get(row).is_some_and(|code| code == "duplicate_key");
    for row in failed.keys().filter(|row| is_duplicate(row)) {
        assert!(
            has_key(*row, &|holder, own| holder != own),
            "row {row} failed as a duplicate, but no other row has its key: {holders:?}"
        );
    }
    for (key, holder) in holders.iter().filter(|(_, holder)| holder.job == job.job_id) {
        let row = holder.row as usize;
        let action = ACTIONS.iter().position(|name| name == key).expect("a key is an action");
        assert!((1..=possible.len()).contains(&row) && is_possible(row, action), "row {row} never had the key {key}");
        // A corrected row can have a record under its earlier key.
        let was_reported_as_duplicate = is_duplicate(&row) && possible[row - 1].count_ones() == 1;
        assert!(!was_reported_as_duplicate, "the record {key} is of row {row}, which failed as a duplicate");
    }
}

/// Writes each record separately. A write can be throttled, have no response, or be executed twice.
impl RecordStore for Records {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let mut written = Vec::new();
        for record in records {
            let Ok(fault) = before("put_record").await else {
                written.push(Written::Throttled("no capacity".into()));
                continue;
            };
            let mut result = self.0.put(into, rule, vec![record.clone()]).await;
            if fault == Fault::SentTwice {
                again("put_record").await;
                result = self.0.put(into, rule, vec![record]).await;
            }
            match after("put_record", fault).await {
                Ok(()) => written.append(&mut result),
                Err(_) => written.push(Written::Unknown("no answer".into())),
            }
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
}

/// Name of the condition that the table follows the rule of an import.
const BY_RULE: &str = "records-by-their-rule";

impl RecordStore for Unguarded<MemoryRecords> {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let rule = if without(BY_RULE) { Rule::Upsert } else { rule };
        self.0.put(into, rule, records).await
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
}
