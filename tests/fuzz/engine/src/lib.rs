//! Empty package with which cargo builds libFuzzer separately from the workspace.
//!
//! The crate with libFuzzer's sources needs other features of its build tool than the cryptography crate below the AWS
//! SDK. Built together, they would rebuild the whole SDK, which takes ten minutes. So `cargo xtask fuzz` builds this
//! package alone, and links the result.
