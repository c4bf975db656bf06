//! Nothing: this package is there so that cargo builds libFuzzer beside the workspace, and not within it.
//!
//! The crate that holds libFuzzer's sources asks other features of its build tool than the cryptography below the AWS
//! SDK does. In one build with them it has the whole SDK built again, which takes ten minutes. So `cargo xtask fuzz`
//! builds this package alone, and links what comes of it.
