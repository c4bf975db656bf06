//! `sim`: deterministic simulation of the real code over in-memory services, one run per seed.
//!
//! The runs are tests of `tests/simulation`; this command selects the seeds. If a seed has a violation, the command
//! fails and prints the command that reproduces the violation.

mod command;
mod soak;
mod stop;

pub(crate) use command::{Options, run};
