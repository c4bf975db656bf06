//! Job types whose rows name their own outcome. Each row takes a step, during which other functions can run.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Rejection, TypeLimits};
use longshore_domain::ids::JobId;
use longshore_domain::job::Tolerance;

use crate::clock::{step, true_time};
use crate::{pauses, trace};

#[derive(serde::Deserialize)]
pub(crate) struct Options {
    max_failed: Option<u64>,
}

#[derive(serde::Deserialize)]
pub(crate) struct Row {
    action: String,
}

/// Concurrency limit of the limited type.
pub(crate) const CONCURRENCY_LIMIT: u32 = 2;

const LIMITS: TypeLimits = TypeLimits { chunk_items: 3, batch_items: 2, item_retries: 2, ..TypeLimits::DEFAULT };

/// Defines a job type whose rows name their own outcome.
macro_rules! job_type {
    ($type:ident, $name:literal, $limits:expr) => {
        job_type!($type, $name, $limits, (), |_| ());
    };
    ($type:ident, $name:literal, $limits:expr, $output:ty, $convert:expr) => {
        pub(crate) struct $type;

        impl JobType for $type {
            const NAME: &'static str = $name;
            const LIMITS: TypeLimits = $limits;
            type Options = Options;
            type Item = Row;
            type Output = $output;

            fn tolerance(&self, options: &Options) -> Tolerance {
                Tolerance { max_failed: options.max_failed, ..Tolerance::default() }
            }

            async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome<$output> {
                let _running = Self::LIMITS.chunks_at_once.map(|_| RunningItem::enter());
                let convert: fn(u64) -> $output = $convert;
                process(job, key, &row).await.and_then(|()| Ok(convert(key.number)))
            }

            async fn process_batch(
                &self,
                job: &JobContext,
                options: &Options,
                items: Vec<(ItemKey, Row)>,
            ) -> Vec<Outcome<Self::Output>> {
                pauses::batch(Self::NAME, &job.tenant, one_by_one(self, job, options, items)).await
            }
        }
    };
}

job_type!(Simulated, "simulated", LIMITS);
job_type!(Limited, "limited", TypeLimits { chunks_at_once: Some(CONCURRENCY_LIMIT), ..LIMITS });
job_type!(Stored, "stored", LIMITS);
job_type!(Fine, "fine", TypeLimits { chunk_items: 1, batch_items: 1, ..LIMITS });
job_type!(Coarse, "coarse", TypeLimits { chunk_items: 60, batch_items: 4, ..LIMITS });

job_type!(Enriching, "enriching", TypeLimits { chunk_items: 5, ..LIMITS }, Output, Output::of);

/// Output of an item: its number, and a number that no other call of the handler has returned.
#[derive(Copy, Clone, Eq, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Output {
    pub(crate) item: u64,
    pub(crate) call: u64,
}

impl Output {
    /// Reads a row of the results.
    pub(crate) fn of_result(row: &serde_json::Value) -> Self {
        let output: Self = serde_json::from_value(row["output"].clone()).expect("an output of the handler");
        assert_eq!(row["number"], output.item, "{row}");
        output
    }

    /// Creates the output of an item, with a number that no other call has returned.
    pub(crate) fn of(item: u64) -> Self {
        let output = Self { item, call: RETURNED.with_borrow(BTreeSet::len) as u64 };
        RETURNED.with_borrow_mut(|returned| returned.insert((item, output.call)));
        output
    }
}

async fn process(job: &JobContext, key: ItemKey, row: &Row) -> Outcome {
    step().await;
    LAST_RUNS.with_borrow_mut(|runs| runs.insert((key.job_id, key.number), trace::function_number()));
    RUNS.with_borrow_mut(|runs| *runs.entry((key.job_id, key.number)).or_default() += 1);
    if row.action == "ok" || (row.action == "retry" && job.round > 0) {
        DONE.with_borrow_mut(|done| done.insert((key.job_id, key.number)));
    }
    match row.action.as_str() {
        "ok" => Outcome::Ok(()),
        "skip" => Outcome::Skip { reason: "requested".into() },
        "retry" if job.round > 0 => Outcome::Ok(()),
        "retry" | "never" => Outcome::Retry { after: None, reason: "busy".into() },
        "fatal" => Outcome::Fatal(Rejection::new("fatal", None, "requested")),
        _ => Outcome::reject("asked_to", Some("action"), "requested"),
    }
}

thread_local! {
    /// Succeeded items, by job and number.
    static DONE: RefCell<BTreeSet<(JobId, u64)>> = const { RefCell::new(BTreeSet::new()) };
    /// Number of the function in which each item last ran.
    static LAST_RUNS: RefCell<BTreeMap<(JobId, u64), u64>> = const { RefCell::new(BTreeMap::new()) };
    /// Number of times that each item ran.
    static RUNS: RefCell<BTreeMap<(JobId, u64), u32>> = const { RefCell::new(BTreeMap::new()) };
    /// Items and calls of all outputs.
    static RETURNED: RefCell<BTreeSet<(u64, u64)>> = const { RefCell::new(BTreeSet::new()) };
    static RUNNING: Cell<u32> = const { Cell::new(0) };
    static MAX_RUNNING: Cell<u32> = const { Cell::new(0) };
}

/// Resets the state at the beginning of a run.
pub(crate) fn begin() {
    DONE.take();
    LAST_RUNS.take();
    RUNS.take();
    RETURNED.take();
    RUNNING.set(0);
    MAX_RUNNING.set(0);
}

/// Records that an item was done.
pub(crate) fn record_done(id: JobId, number: u64) {
    LAST_RUNS.with_borrow_mut(|runs| runs.insert((id, number), trace::function_number()));
    DONE.with_borrow_mut(|done| done.insert((id, number)));
}

/// Returns true if an item succeeded.
pub(crate) fn has_succeeded(id: JobId, number: u64) -> bool {
    DONE.with_borrow(|done| done.contains(&(id, number)))
}

/// Returns true if a call has returned this output.
pub(crate) fn has_returned(Output { item, call }: Output) -> bool {
    RETURNED.with_borrow(|returned| returned.contains(&(item, call)))
}

/// Returns the numbers of the items that ran more than once.
pub(crate) fn repeated(id: JobId) -> Vec<u64> {
    let is_repeated = |((job, _), runs): &(&(JobId, u64), &u32)| *job == id && **runs > 1;
    RUNS.with_borrow(|runs| runs.iter().filter(is_repeated).map(|((_, number), _)| *number).collect())
}

/// Returns true if an item ran in a function that began after function number `function`.
pub(crate) fn ran_after(id: JobId, number: u64, function: u64) -> bool {
    LAST_RUNS.with_borrow(|runs| runs.get(&(id, number)).is_some_and(|last| *last > function))
}

/// Maximum number of concurrent items in the handler in this run. Each running chunk has one.
pub(crate) fn max_running() -> u32 {
    MAX_RUNNING.get()
}

/// Number of items in the handler.
pub(crate) fn running() -> u32 {
    RUNNING.get()
}

/// Guard of an item in the handler. It is dropped at the end of the item, or with its worker.
struct RunningItem;

impl RunningItem {
    fn enter() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        MAX_RUNNING.set(MAX_RUNNING.get().max(RUNNING.get()));
        Self
    }
}

impl Drop for RunningItem {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get().saturating_sub(1));
    }
}

/// Time in milliseconds after which a batch returns early with the outcomes so far.
const BATCH_MS: i64 = 500;

/// Does the work of [`JobType::process_batch`] with the simulated clock.
async fn one_by_one<T: JobType>(
    job_type: &T,
    job: &JobContext,
    options: &T::Options,
    items: Vec<(ItemKey, T::Item)>,
) -> Vec<Outcome<T::Output>> {
    let (start, mut outcomes) = (true_time(), Vec::new());
    for (key, item) in items {
        let outcome = job_type.process(job, options, key, item).await;
        let is_fatal = matches!(outcome, Outcome::Fatal(_));
        outcomes.push(outcome);
        if is_fatal || true_time().millis_since(start) > BATCH_MS {
            break;
        }
    }
    outcomes
}
