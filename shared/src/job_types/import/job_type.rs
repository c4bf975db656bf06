//! The job type `import`.

use std::sync::Arc;

use longshore_domain::job::{JobError, Tolerance};
use serde_json::Value;

use super::columns;
use super::options::{self, ImportOptions, Mode};
use super::row::{self, Row, Target};
use super::sheet::names;
use crate::field_error::FieldError;
use crate::handler::{ItemKey, ItemShape, JobContext, JobType, Outcome, Record, Rejection, TypeLimits};
use longshore_domain::ports::RecordStore;

/// Imports the rows of a file into a dataset.
#[derive(Debug)]
pub struct Import<R> {
    records: Arc<R>,
}

impl<R> Import<R> {
    /// Creates the job type, which writes to this store.
    pub fn new(records: Arc<R>) -> Self {
        Self { records }
    }
}

impl<R: RecordStore> JobType for Import<R> {
    const NAME: &'static str = "import";
    const ITEM: ItemShape = ItemShape::Object;
    const LIMITS: TypeLimits = TypeLimits {
        // Checking a row takes one or two microseconds, and writing one a tenth of a millisecond: a chunk takes well
        // under a minute either way.
        chunk_items: 50_000,
        chunk_bytes: 4 << 20,
        // Forty calls of 25 statements, eight at once: about 100 ms between two checks that the job is still running.
        batch_items: 1_000,
        ..TypeLimits::DEFAULT
    };
    type Options = ImportOptions;
    type Item = Row;
    type Output = ();

    fn check(&self, options: &ImportOptions) -> Vec<FieldError> {
        options.check()
    }

    fn check_columns(&self, options: &ImportOptions, columns: &[String]) -> Result<Vec<JobError>, JobError> {
        let columns = names(options.formulas, columns);
        let issues = columns::check(&options.key, options.row_schema(), &columns)?;
        // The issues concern columns that a delete does not read.
        Ok(if options.mode == Mode::Delete { Vec::new() } else { issues })
    }

    fn started(options: &Value) -> Option<Value> {
        options::started(options)
    }

    fn tolerance(&self, options: &ImportOptions) -> Tolerance {
        options.tolerance()
    }

    fn read(&self, options: &ImportOptions, record: &Record<'_>) -> Result<Row, Rejection> {
        row::read(options, record)
    }

    async fn process(&self, job: &JobContext, options: &ImportOptions, key: ItemKey, item: Row) -> Outcome {
        let mut outcomes = self.process_batch(job, options, vec![(key, item)]).await;
        // A single item is always tried.
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
                let target = Target { dataset: options.dataset_of(job), rule, key: &options.key };
                row::write(&*self.records, &target, items).await
            }
        }
    }
}
