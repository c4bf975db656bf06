//! Ends jobs over the in-memory services: completed, stopped, raced, broken off at every step.

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
