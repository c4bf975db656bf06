//! The files of `tests/files`: what the function `inspect` says of each, and what jobs over it write and report,
//! compared with what an independent reader says. Everything is in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod case;
mod inspections;
mod jobs;
mod services;
