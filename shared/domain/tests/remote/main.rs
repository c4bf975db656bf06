//! The contract with remote handlers: its published schemas and page, and the reader of answers.

mod answers;
mod page;
mod properties;
mod schemas;

use longshore_domain::ids::{ItemKey, JobId};

/// The job of the examples.
const JOB: &str = "01980000-0000-7000-8000-000000000001";

/// Returns the key of an item of the examples' job.
fn key(number: u64) -> ItemKey {
    ItemKey { job_id: JobId::parse(JOB).unwrap(), number }
}

/// Returns the keys of the example's batch.
fn keys() -> Vec<ItemKey> {
    (17..=20).map(key).collect()
}
