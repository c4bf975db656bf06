//! Probe job types: each row names its own behavior, so that a test can cause any fault.

mod job_types;
mod row;

pub use job_types::{Brief, Bulk, Limited, Once, Options, Probe};
pub use row::Row;
