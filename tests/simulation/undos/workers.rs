//! Workers of a job: they process batches of rows in any order, die at any step, and come back late.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::task::noop_waker;
use longshore::handler::{ItemKey, JobContext, JobType, Outcome};
use longshore_domain::ids::JobId;
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

use crate::rng::Rng;

/// Maximum number of rows in a batch.
const BATCH: usize = 3;

/// A row: its number and its key.
pub(super) type Row = (u64, String);

/// A running batch.
type Batch = Pin<Box<dyn Future<Output = Vec<Outcome>>>>;

/// The workers that were believed dead, with their jobs.
#[derive(Default)]
pub(super) struct Late(Vec<(JobId, Batch)>);

fn poll(batch: &mut Batch) -> Poll<Vec<Outcome>> {
    batch.as_mut().poll(&mut Context::from_waker(&noop_waker()))
}

impl Late {
    /// Lets one of them take a step.
    pub(super) fn step(&mut self, rng: &mut Rng) {
        if !self.0.is_empty() {
            let at = rng.below(self.0.len());
            if poll(&mut self.0[at].1).is_ready() {
                drop(self.0.swap_remove(at));
            }
        }
    }

    /// The stall time of a job passes: its workers have died or ended.
    pub(super) fn end(&mut self, job: JobId, rng: &mut Rng) {
        while let Some(at) = self.0.iter().position(|(of, _)| *of == job) {
            let (_, mut batch) = self.0.swap_remove(at);
            while rng.often(950) && poll(&mut batch).is_pending() {}
        }
    }

    /// All workers die.
    pub(super) fn die(&mut self) {
        self.0.clear();
    }
}

/// A job with its handler.
pub(super) struct Working<T: JobType> {
    pub(super) job: JobId,
    pub(super) job_type: Arc<T>,
    pub(super) options: Arc<T::Options>,
}

impl<T: JobType<Output = ()>> Working<T> {
    fn batch(&self, rows: &[Row]) -> Batch {
        let (job, job_type, options) = (self.job, Arc::clone(&self.job_type), Arc::clone(&self.options));
        let item = |(number, key): &Row| {
            let item: Value = item(job, *number, key, T::NAME);
            (ItemKey { job_id: job, number: *number }, serde_json::from_value(item).expect("an item"))
        };
        let items: Vec<_> = rows.iter().map(item).collect();
        Box::pin(async move {
            let context = JobContext { job_id: job, tenant: TenantId::from_static("t"), dataset: None, round: 0 };
            job_type.process_batch(&context, &options, items).await
        })
    }

    /// Processes all rows to their ends, whatever happens to the workers. Returns the outcome of each row.
    pub(super) fn run(&self, rows: &[Row], rng: &mut Rng, late: &mut Late) -> BTreeMap<u64, Outcome> {
        let (mut open, mut ended) = (rows.to_vec(), BTreeMap::new());
        while !open.is_empty() {
            // A batch is a run of rows, in any order of the runs.
            let start = rng.below(open.len());
            let end = open.len().min(start + 1 + rng.below(BATCH));
            let mut batch = self.batch(&open[start..end]);
            let dies_after = if rng.often(250) { rng.below(16) } else { usize::MAX };
            let mut steps = 0;
            let outcomes = loop {
                if steps == dies_after {
                    if rng.often(600) {
                        late.0.push((self.job, batch));
                    }
                    break Vec::new();
                }
                if rng.often(300) {
                    late.step(rng);
                }
                if let Poll::Ready(outcomes) = poll(&mut batch) {
                    assert!(!outcomes.is_empty(), "the first item is always tried");
                    break outcomes;
                }
                steps += 1;
            };
            let numbers: Vec<_> = open[start..end].iter().map(|(number, _)| *number).collect();
            let done = numbers.into_iter().zip(outcomes).filter(|(_, outcome)| is_final(outcome));
            // A worker may also die between the outcomes and the commit.
            if !rng.often(100) {
                ended.extend(done);
            }
            open.retain(|(number, _)| !ended.contains_key(number));
        }
        ended
    }
}

fn is_final(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Retry { .. } | Outcome::Busy { .. })
}

/// The item of a row, as the job type reads it.
fn item(job: JobId, number: u64, key: &str, job_type: &str) -> Value {
    if job_type == "import" { json!({ "key": key, "data": data(job, number) }) } else { json!(key) }
}

/// The data that a row writes.
pub(super) fn data(job: JobId, number: u64) -> Value {
    json!({ "row": format!("{job}-{number}") })
}
