//! The calls for dead letters.

mod list;
mod resolve;
