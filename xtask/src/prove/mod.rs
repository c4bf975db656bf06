//! `prove`: verifies at length that nothing is lost, counted twice or stuck, and writes the measurements into one
//! document.
//!
//! Each part runs tests that a plain test run includes too, there in a reduced set. Here they run completely, and
//! leave measurements that become tables. With a condition removed the run must fail, and with a redundant layer
//! removed it must not; otherwise it would verify nothing.

mod command;
mod metrics;
mod part;
mod release;
mod report;
mod second_engine;

pub(crate) use command::{Options, removable, run};
