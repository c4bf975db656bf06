//! `fuzz`: finds inputs that break a guarantee, by coverage-guided fuzzing.
//!
//! The targets are functions of `fuzz`, which plain tests also call. Here they are instrumented and linked with
//! libFuzzer, with the stable compiler. The committed corpus of a target consists of named seeds and one packed file.
//! New inputs are kept in `target/fuzz`, and the next run continues with them.

mod build;
mod command;
mod corpus;

pub(crate) use command::{Options, run};
