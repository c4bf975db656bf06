//! Packed corpora, and libFuzzer built apart from everything else.
//!
//! The crate with libFuzzer's sources needs other features of its build tool than the cryptography crate below the AWS
//! SDK. Built together, they would rebuild the whole SDK, which takes ten minutes. So `cargo xtask fuzz` builds this
//! package alone with its feature `libfuzzer`, and links the result.

mod pack;

pub use pack::{Truncated, pack, unpack};
