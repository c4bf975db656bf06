//! Completion over in-memory services: of completed and stopped jobs, with concurrent completions, and with crashes at
//! every step.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod completed;
mod crafted_worker;
mod faults;
mod fixture;
mod hooked;
mod partition;
mod receipts;
mod resumed;
mod stopped;
mod workbooks;
