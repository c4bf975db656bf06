//! The command `longshore`, run as a process.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod account;
mod cleanup;
mod dead_letters;
mod interrupts;
mod jobs;
mod load;
mod server;
mod sign_in;
mod throttling;
mod tls;
mod uploads;
mod usage;
