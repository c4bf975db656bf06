//! The contract with remote handlers: its published schemas and page, and the reader of answers.

mod answers;
mod page;
mod properties;
mod schemas;

use longshore_domain::ids::{ItemKey, JobId};
use uuid::Uuid;

/// The job of the examples.
const JOB: &str = "01980000-0000-7000-8000-000000000001";

/// Returns the key of an item of the examples' job.
fn key(number: u64) -> ItemKey {
    ItemKey { job_id: JobId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001)), number }
}

/// Returns the keys of the example's batch.
fn keys() -> Vec<ItemKey> {
    (17..=20).map(key).collect()
}
