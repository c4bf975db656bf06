//! The profile of what goes to AWS.

const MANIFEST: &str = include_str!("../../../../Cargo.toml");

/// cargo-lambda compiles `--release` with `abort` unless the profile names a strategy, and with it one panicking row would take
/// its whole chunk along.
#[test]
fn panics_unwind_in_a_release() {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    assert_eq!(manifest["profile"]["release"].get("panic").and_then(toml::Value::as_str), Some("unwind"));
}
