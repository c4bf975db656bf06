//! `types check`, run as a process, against handlers that do one thing wrong.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod deviations;
mod endpoint;
mod function;
mod handler;
mod python;
mod run;
mod usage;
