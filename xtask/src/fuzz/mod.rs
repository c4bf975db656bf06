//! `fuzz`: finds inputs that break a guarantee, guided by code coverage.
//!
//! The targets are functions of `tests/fuzz`, which plain tests call too. Here they are instrumented and linked with
//! libFuzzer, on the stable compiler. New inputs beyond the committed corpus are kept in `target/fuzz`, and the next
//! run continues with them. The committed corpus of a target consists of named seeds and one packed file.

mod build;
mod command;
mod corpus;
mod run;

pub(crate) use command::{Options, run};
