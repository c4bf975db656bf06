//! Job types: the one trait that a team writes, everything else being Longshore's part.
//!
//! A handler says what becomes of an item; it never sees queues, chunks, retries or counts. It may be asked twice
//! for the same item (a worker can die after the work and before the commit), so it gets a key per item and makes
//! its effects idempotent under it.

mod cells;
mod limits;
mod options;
mod record;
mod registry;

use std::future::Future;
use std::time::{Duration, Instant};

use longshore_domain::ids::JobId;
use longshore_domain::job::{JobError, Tolerance};
pub use longshore_domain::outcome::{Outcome, Rejection};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use cells::{CellReader, Cells};
pub use limits::{Input, TypeLimits};
pub use record::Record;
pub use registry::{AnyJobType, PreparedJob, RawItem, Registry, Shape};

use crate::problem::FieldError;

/// How long the default batch form goes on before it lets the worker commit and look whether the job still runs.
const BATCH_TIME: Duration = Duration::from_secs(1);

/// One kind of work over many items.
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
///
///     async fn process(&self, _: &JobContext, _: &Self::Options, _: ItemKey, person: Person) -> Outcome {
///         if person.name.is_empty() {
///             return Outcome::reject("no_name", Some("name"), "a person needs a name");
///         }
///         Outcome::Ok
///     }
/// }
/// ```
pub trait JobType: Send + Sync + 'static {
    /// What clients write as `jobType`.
    const NAME: &'static str;
    /// Whether it works through a file.
    const INPUT: Input = Input::File;
    /// How much one chunk holds, how often an item is retried, how long a job may take.
    const LIMITS: TypeLimits = TypeLimits::DEFAULT;
    /// What clients write as `options`. Deny unknown fields, so that a misspelt option is refused.
    type Options: DeserializeOwned + Send + Sync + 'static;
    /// One row or JSON line.
    type Item: DeserializeOwned + Send;

    /// Everything that is wrong with the options beyond their types; asked when a job is created.
    fn check(&self, options: &Self::Options) -> Vec<FieldError> {
        let _ = options;
        Vec::new()
    }

    /// Looks at a file's columns before anything runs: an error fails the job, the list is shown as its `issues`.
    ///
    /// # Errors
    /// If no row of a file with these columns could be processed.
    fn check_columns(&self, options: &Self::Options, columns: &[String]) -> Result<Vec<JobError>, JobError> {
        let _ = (options, columns);
        Ok(Vec::new())
    }

    /// The options of a job that does for real what a job with these options only checks; none if they do not only check.
    /// `options` are as the client sent them, and good.
    fn started(options: &Value) -> Option<Value> {
        let _ = options;
        None
    }

    /// How many failed items the job tolerates.
    fn tolerance(&self, options: &Self::Options) -> Tolerance {
        let _ = options;
        Tolerance::default()
    }

    /// Reads one record as an item; by default as serde reads it (a CSV cell as the type that its field wants).
    ///
    /// # Errors
    /// What is wrong with the record; its item then fails with it.
    fn read(&self, options: &Self::Options, record: &Record<'_>) -> Result<Self::Item, Rejection> {
        let _ = options;
        record.parse()
    }

    /// Does the work for one item. Must be harmless twice under the same key.
    fn process(
        &self,
        job: &JobContext,
        options: &Self::Options,
        key: ItemKey,
        item: Self::Item,
    ) -> impl Future<Output = Outcome> + Send;

    /// Does the work for several items at once, where that is cheaper. Answers the outcomes of the first ones, at
    /// least of one; the rest is offered again. Nothing after [`Outcome::Fatal`].
    fn process_batch(
        &self,
        job: &JobContext,
        options: &Self::Options,
        items: Vec<(ItemKey, Self::Item)>,
    ) -> impl Future<Output = Vec<Outcome>> + Send {
        async move {
            let (began, mut outcomes) = (Instant::now(), Vec::with_capacity(items.len()));
            for (key, item) in items {
                let outcome = self.process(job, options, key, item).await;
                let fatal = matches!(outcome, Outcome::Fatal(_));
                outcomes.push(outcome);
                if fatal || began.elapsed() > BATCH_TIME {
                    break;
                }
            }
            outcomes
        }
    }
}

/// What a handler may know of its job.
#[derive(Clone, Debug)]
pub struct JobContext {
    /// The job.
    pub job_id: JobId,
    /// Whose it is.
    pub tenant: String,
    /// 0 for the first try of an item, n for its nth round of retries.
    pub round: u32,
}

/// The idempotency key of one item: the same for every try, different for every other item.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct ItemKey {
    /// The job.
    pub job_id: JobId,
    /// Number of the item in the file, from 1.
    pub number: u64,
}

impl std::fmt::Display for ItemKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.job_id, self.number)
    }
}
