//! Inputs of the fuzz targets - named seeds and packed corpora - and libFuzzer built apart from everything else.
//!
//! The crate with libFuzzer's sources needs other features of its build tool than the cryptography crate below the AWS
//! SDK. Built together, they would rebuild the whole SDK, which takes ten minutes. So `cargo xtask fuzz` builds this
//! package alone with its feature `libfuzzer`, and links the result.

mod pack;
mod seeds;

pub use pack::{Truncated, pack, unpack};
pub use seeds::{SEEDS, Seed, seeds};
