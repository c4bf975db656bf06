//! The API's document: its path, and the check for changes that break clients.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Path of the document in the checkout. `jobs-api` serves it.
pub(super) const DOCUMENT: &str = "docs/openapi.json";

/// Parses a version of the document.
pub(super) fn parse(document: &str) -> Result<Value> {
    serde_json::from_str(document).with_context(|| format!("{DOCUMENT} is not valid JSON"))
}

/// Prints the changes. Fails if they break clients and the version does not permit that.
pub(super) fn refuse_breaking(old: &Value, new: &Value) -> Result<()> {
    let changes = breaking::changes(old, new);
    for change in &changes {
        println!("  {change}");
    }
    let is_breaking = changes.iter().any(|change| change.is_breaking);
    ensure!(
        !is_breaking || breaking::may_break(old, new),
        "this breaks clients of version {}: change it, or increase the leading number of `version` in Cargo.toml",
        old["info"]["version"]
    );
    Ok(())
}
