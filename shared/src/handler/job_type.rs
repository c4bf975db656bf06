//! The trait of a job type, and the types of its arguments.

use std::future::Future;
use std::time::{Duration, Instant};

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::{ItemKey, JobId};
use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::outcome::{Outcome, Rejection};
use longshore_domain::results::ResultRow;
use longshore_domain::tenant::TenantId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::header::{CheckedHeader, Header};
use super::limits::{Input, ItemShape, TypeLimits};
use super::record::Record;
use crate::field_error::FieldError;

/// Time after which the default batch form returns, so that the worker can commit and check that the job is still
/// running.
const BATCH_TIME: Duration = Duration::from_secs(1);

/// A kind of work over many items.
///
/// ```
/// use longshore::handler::{ItemKey, JobContext, JobType, Outcome};
///
/// struct Greet;
///
/// #[derive(serde::Deserialize)]
/// struct Person { name: String }
///
/// impl JobType for Greet {
///     const NAME: &'static str = "greet";
///     type Options = serde_json::Value;
///     type Item = Person;
///     type Output = ();
///
///     async fn process(&self, _: &JobContext, _: &Self::Options, _: ItemKey, person: Person) -> Outcome {
///         if person.name.is_empty() {
///             return Outcome::reject("no_name", Some("name"), "a person needs a name");
///         }
///         Outcome::Ok(())
///     }
/// }
/// ```
pub trait JobType: Send + Sync + 'static {
    /// The value of `jobType` in a client's request.
    const NAME: &'static str;
    /// Source of the items.
    const INPUT: Input = Input::File;
    /// True if an item whose record was removed from its dataset while the job ran has succeeded, because the job is to
    /// remove it. Otherwise the item is skipped. Ignored if the type has an output.
    const REMOVED_IS_DONE: bool = false;
    /// True if clients cannot create jobs of the type: a call of its own does.
    const INTERNAL: bool = false;
    /// Reason with which items that cannot be read are skipped: records that are malformed, too long, or that
    /// [`JobType::read`] refuses. `None` if they fail.
    const SKIPS_UNREADABLE: Option<&'static str> = None;
    /// Shape of a row of the results.
    const ROW: ResultRow = ResultRow::Numbered;
    /// Required type of the items in a request.
    const ITEM: ItemShape = ItemShape::Any;
    /// Limits: chunk size, retries of an item, duration of a job.
    const LIMITS: TypeLimits = TypeLimits::DEFAULT;
    /// The value of `options` in a client's request. Deny unknown fields, so that a misspelt option is
    /// refused.
    type Options: DeserializeOwned + Send + Sync + 'static;
    /// One row or one JSON line.
    type Item: DeserializeOwned + Send;
    /// Output of an item that succeeds: a row of the job's results, of up to 1 MiB as JSON. `()` if there is none; such
    /// a type writes no results. If the outputs of a batch exceed 8 MiB, its last items are processed again under the
    /// same keys, in a smaller batch.
    type Output: Serialize + Send + 'static;

    /// Returns every error in the options that parsing has not found. Called when a job is created.
    fn check(&self, options: &Self::Options) -> Vec<FieldError> {
        let _ = options;
        Vec::new()
    }

    /// Checks a file's header before the first item is processed, and decides what the options leave open from the
    /// first rows. An error fails the job.
    ///
    /// # Errors
    /// If no row of a file with this header could be processed, or the client must decide.
    fn check_header(&self, options: &Self::Options, header: &Header<'_>) -> Result<CheckedHeader, JobError> {
        let _ = (options, header);
        Ok(CheckedHeader::default())
    }

    /// Returns the options of the job that can be started from a job that only validates its items; `None` if a job
    /// with these options does more. `options` are valid, and as the client sent them.
    fn started(options: &Value) -> Option<Value> {
        let _ = options;
        None
    }

    /// Returns true if a job with these options can be undone. `options` are valid, and as the client sent them.
    fn is_undoable(options: &Value) -> bool {
        let _ = options;
        false
    }

    /// Returns true if a job with these options writes a record for each item, which an estimate of its cost includes.
    /// `options` are valid, and as the client sent them.
    fn writes_records(options: &Value) -> bool {
        let _ = options;
        false
    }

    /// Returns the number of failed items that the job tolerates.
    fn tolerance(&self, options: &Self::Options) -> Tolerance {
        let _ = options;
        Tolerance::default()
    }

    /// Returns the members of an output that become the columns of a CSV file, unless the request names
    /// columns. By default none: each row then has the output as JSON in one column.
    fn result_columns(&self, options: &Self::Options) -> Vec<String> {
        let _ = options;
        Vec::new()
    }

    /// Parses a record as an item. By default uses serde, which converts a CSV cell to the type of its field.
    ///
    /// # Errors
    /// The reason why the record is invalid; the item then fails with it.
    fn read(&self, options: &Self::Options, record: &Record<'_>) -> Result<Self::Item, Rejection> {
        let _ = options;
        record.parse()
    }

    /// Processes one item. Must be idempotent under the same key.
    fn process(
        &self,
        job: &JobContext,
        options: &Self::Options,
        key: ItemKey,
        item: Self::Item,
    ) -> impl Future<Output = Outcome<Self::Output>> + Send;

    /// Processes several items at once, if that is cheaper. Returns the outcomes of the first items, at least of one;
    /// the remaining items are passed to a later call. No outcome may follow [`Outcome::Fatal`].
    fn process_batch(
        &self,
        job: &JobContext,
        options: &Self::Options,
        items: Vec<(ItemKey, Self::Item)>,
    ) -> impl Future<Output = Vec<Outcome<Self::Output>>> + Send {
        async move {
            let (started, mut outcomes) = (Instant::now(), Vec::with_capacity(items.len()));
            for (key, item) in items {
                let outcome = self.process(job, options, key, item).await;
                let fatal = matches!(outcome, Outcome::Fatal(_));
                outcomes.push(outcome);
                if fatal || started.elapsed() > BATCH_TIME {
                    break;
                }
            }
            outcomes
        }
    }
}

/// Information about the job for a handler.
#[derive(Clone, Debug)]
pub struct JobContext {
    /// The job.
    pub job_id: JobId,
    /// The tenant that owns the job.
    pub tenant: TenantId,
    /// The dataset whose records are the items; `None` for a job with another source.
    pub dataset: Option<Dataset>,
    /// 0 for the first attempt at an item, n for its nth round of retries.
    pub round: u32,
}
