//! `demo`: imports a real file through the local stack, as a browser would, and verifies every row.
//!
//! The checks are independent of the stack: rows are counted with the csv crate, a Python program determines which rows
//! are valid, and all records are read back.

mod browser;
mod command;
mod expect;

pub(crate) use command::{Options, run};
