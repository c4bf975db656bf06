//! The release profile.

const MANIFEST: &str = include_str!("../../../../Cargo.toml");

/// cargo-lambda compiles `--release` with `panic = "abort"` unless the profile names a strategy. With `abort`, one
/// panicking row would fail its whole chunk.
#[test]
fn panics_unwind_in_a_release() {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    assert_eq!(manifest["profile"]["release"].get("panic").and_then(toml::Value::as_str), Some("unwind"));
}
