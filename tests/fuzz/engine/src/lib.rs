<<<<<<< HEAD
//! Packed corpora, and libFuzzer built apart from everything else.
//!
//! The crate that holds libFuzzer's sources asks other features of its build tool than the cryptography below the AWS
//! SDK does. In one build with them it has the whole SDK built again, which takes ten minutes. So `cargo xtask fuzz`
//! builds this package alone with its feature `libfuzzer`, and links what comes of it.

mod pack;

pub use pack::{Truncated, pack, unpack};
=======
//! Empty package with which cargo builds libFuzzer separately from the workspace.
//!
//! The crate with libFuzzer's sources needs other features of its build tool than the cryptography crate below the AWS
//! SDK. Built together, they would rebuild the whole SDK, which takes ten minutes. So `cargo xtask fuzz` builds this
//! package alone, and links the result.
>>>>>>> x
