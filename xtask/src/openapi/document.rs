//! The API's document: its place, and the changes that it must not have.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The document within the checkout. `jobs-api` serves it.
pub(super) const DOCUMENT: &str = "docs/openapi.json";

/// Parses a version of the document.
pub(super) fn parse(document: &str) -> Result<Value> {
    serde_json::from_str(document).with_context(|| format!("{DOCUMENT} is no JSON"))
}

/// Prints the changes, and refuses those that break clients without a version change.
pub(super) fn refuse_breaking(old: &Value, new: &Value) -> Result<()> {
    let changes = breaking::changes(old, new);
    for change in &changes {
        println!("  {change}");
    }
    let breaks = changes.iter().any(|change| change.is_breaking);
    ensure!(
        !breaks || breaking::may_break(old, new),
        "this breaks clients of version {}: make it fit, or raise the leading number of `version` in Cargo.toml",
        old["info"]["version"]
    );
    Ok(())
}
