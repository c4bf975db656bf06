//! Packed corpora, and libFuzzer built apart from everything else.
//!
//! The crate that holds libFuzzer's sources asks other features of its build tool than the cryptography below the AWS
//! SDK does. In one build with them it has the whole SDK built again, which takes ten minutes. So `cargo xtask fuzz`
//! builds this package alone with its feature `libfuzzer`, and links what comes of it.

mod pack;

pub use pack::{Truncated, pack, unpack};
