//! `prove`: verifies exhaustively that nothing is lost, counted twice or stuck, and records the measurements in a
//! document.
//!
//! A plain test run has a reduced set of each part's tests. `prove` runs all of them, and turns their measurements into
//! tables. Without a condition, the run must fail: this shows that the tests check the condition. Without a redundant
//! layer, it must pass.

mod command;
mod metrics;
mod part;
mod passed;
mod release;
mod report;
mod second_engine;
mod versions;

pub(crate) use command::{Options, removable, run};
