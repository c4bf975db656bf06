//! Completion of jobs over in-memory services: completed, stopped, raced, interrupted at every step.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test's own step that fails ends the test")]

mod completed;
mod crafted_worker;
mod faults;
mod fixture;
mod hooked;
mod partition;
mod receipts;
mod resumed;
mod stopped;
