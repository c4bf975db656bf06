//! The store in memory, for tests: the domain's own functions under one lock. It refuses calls that DynamoDB refuses.
//!
//! It passes the conformance suite of the DynamoDB store, so that results of a handler's test on it also hold there.

mod concurrency;
mod dead_letters;
mod keys;
mod memory;
mod records;
mod sweeps;
mod transitions;

pub use memory::{JobItem, MemoryStore};
pub use records::GroupWrite;
