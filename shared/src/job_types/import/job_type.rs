//! The job type `import`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use longshore_domain::job::{JobError, Tolerance};
use serde::Deserialize;
use serde_json::Value;

use super::mode::Mode;
use super::options::{self, ImportOptions};
use super::row::{self, Row, Target};
use super::row_reader::properties;
use super::write_ahead::WriteAhead;
use super::{columns, detection, notations};
use crate::field_error::FieldError;
use crate::handler::{
    CheckedHeader, Header, ItemKey, ItemShape, JobContext, JobType, Outcome, Record, Rejection, TypeLimits,
};
use crate::ports::JobFolder;
use longshore_domain::ports::{Files, NewRecord, RecordStore, RecordVersions};
use longshore_domain::writer::{Rule, Written};

/// Name of the job type.
pub const NAME: &str = "import";

/// Limits of jobs that write a record for each row.
pub(crate) const LIMITS: TypeLimits = TypeLimits {
    // Checking a row takes one or two microseconds, and writing one a tenth of a millisecond: a chunk takes well under
    // a minute either way.
    chunk_items: 50_000,
    chunk_bytes: 4 << 20,
    // Forty calls of 25 statements, eight at once: about 100 ms between two checks that the job is still running.
    batch_items: 1_000,
    ..TypeLimits::DEFAULT
};

/// Imports the rows of a file into a dataset.
#[derive(Debug)]
pub struct Import<R, F> {
    records: Arc<R>,
    files: F,
    /// True if most keys of the last batch existed.
    mostly_present: AtomicBool,
}

impl<R, F> Import<R, F> {
    /// Creates the job type, which writes to this store, and previous versions of records to these files.
    pub fn new(records: Arc<R>, files: F) -> Self {
        Self { records, files, mostly_present: AtomicBool::new(false) }
    }
}

impl<R: RecordStore + RecordVersions, F: Files + 'static> Import<R, F> {
    /// Writes records with different keys, so that they can be undone if the options say so. An insert overwrites
    /// nothing: a record's creator is all that its undo needs.
    async fn put(&self, job: &JobContext, target: &Target<'_>, undo: bool, records: Vec<NewRecord>) -> Vec<Written> {
        let (dataset, rule) = (&target.dataset, target.rule);
        if !undo || !matches!(rule, Rule::Upsert | Rule::Update) {
            return self.records.put(dataset, rule, records).await;
        }
        let folder = JobFolder { tenant: &job.tenant, id: job.job_id };
        let (store, files, mostly_present) = (&*self.records, &self.files, &self.mostly_present);
        let clock = Instant::now;
        WriteAhead { records: store, files, folder, dataset, rule, mostly_present, clock }.put(&records).await
    }
}

impl<R: RecordStore + RecordVersions, F: Files + 'static> JobType for Import<R, F> {
    const NAME: &'static str = NAME;
    const ITEM: ItemShape = ItemShape::Object;
    const LIMITS: TypeLimits = LIMITS;
    type Options = ImportOptions;
    type Item = Row;
    type Output = ();

    fn check(&self, options: &ImportOptions) -> Vec<FieldError> {
        options.check()
    }

    fn check_header(&self, options: &ImportOptions, header: &Header<'_>) -> Result<CheckedHeader, JobError> {
        let properties = properties(options, header.columns);
        let mut issues = columns::check(options, header.columns, &properties)?;
        if options.mode == Mode::Delete {
            // The issues concern columns that a delete does not read.
            issues.clear();
        }
        let found = match header.detected {
            Some(found) => notations::found_before(found),
            None => detection::detect(options, header.columns, &properties, header.rows)?,
        };
        issues.extend(detection::notice(&found));
        let detected = notations::detected_members(options, &found).filter(|_| header.detected.is_none());
        Ok(CheckedHeader { issues, detected })
    }

    fn started(options: &Value) -> Option<Value> {
        options::started(options)
    }

    fn is_undoable(options: &Value) -> bool {
        ImportOptions::deserialize(options).is_ok_and(|options| options.check_undoable().is_ok())
    }

    fn writes_records(options: &Value) -> bool {
        ImportOptions::deserialize(options).is_ok_and(|options| options.mode != Mode::Validate)
    }

    fn tolerance(&self, options: &ImportOptions) -> Tolerance {
        options.tolerance()
    }

    fn read(&self, options: &ImportOptions, record: &Record<'_>) -> Result<Row, Rejection> {
        row::read(options, record)
    }

    async fn process(&self, job: &JobContext, options: &ImportOptions, key: ItemKey, item: Row) -> Outcome {
        let mut outcomes = self.process_batch(job, options, vec![(key, item)]).await;
        // A single item always has an outcome.
        outcomes.pop().unwrap_or_else(|| Outcome::Retry { after: None, reason: String::from("not processed") })
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        options: &ImportOptions,
        items: Vec<(ItemKey, Row)>,
    ) -> Vec<Outcome> {
        match options.mode.rule() {
            None => vec![Outcome::Ok(()); items.len()],
            Some(rule) => {
                let target = Target { dataset: options.dataset_of(job), rule, key: options.column_of(&options.key) };
                let put = |records| self.put(job, &target, options.stores_versions(), records);
                row::write(&target, items, put).await
            }
        }
    }
}
