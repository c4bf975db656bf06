//! Probe job types: each row names its own behavior, so that a test can cause any fault.

mod job_types;

pub use job_types::{Brief, Bulk, Limited, Once, Options, Probe, Row, WithOutput};
