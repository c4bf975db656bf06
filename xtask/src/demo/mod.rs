//! `demo`: imports a real file through the deployed stack, as a browser would, and verifies every row.
//!
//! The checks are independent of the stack: rows are counted here with the csv crate, another implementation in
//! another language decides their validity, and the records are read back one by one.

mod browser;
mod command;
mod expect;

pub(crate) use command::{Options, run};
