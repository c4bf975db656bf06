//! A folder in the layout that the template is deployed from: the template itself, and every function's binary in its
//! place.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The functions, each with a flag: true if it runs job types, so that the probe's binary can replace it.
const FUNCTIONS: [(&str, bool); 8] = [
    ("upload", false),
    ("jobs-api", true),
    ("dead-letters", false),
    ("create-job", true),
    ("process-item", true),
    ("complete-job", false),
    ("sweep", false),
    ("web", false),
];

/// Fills `folder`. With `probe`, the probe's binary replaces every function that runs job types.
///
/// # Errors
/// If a binary is missing. Binaries are built beforehand, by `cargo xtask test` or `cargo build --workspace --bins`.
pub fn stage(folder: &Path, probe: bool) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["template.yaml", "samconfig.toml"] {
        fs::copy(root.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    for (function, knows_job_types) in FUNCTIONS {
        let binary = match std::env::var_os(measurements::PROBE).filter(|_| probe && knows_job_types) {
            Some(made) => made.into(),
            None => built(if probe && knows_job_types { "probe" } else { function })?,
        };
        let place = folder.join("target/lambda").join(function);
        fs::create_dir_all(&place)?;
        // The file is copied: a link cannot cross file systems, and a concurrent build may replace the binary.
        fs::copy(&binary, place.join("bootstrap")).with_context(|| {
            format!("{} is missing: build it with `cargo build --workspace --bins`", binary.display())
        })?;
    }
    Ok(())
}

/// Path of a binary that cargo has built in this profile. Tests are in `deps`, beside the binaries.
fn built(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let deps = test.parent().context("this test lies nowhere")?;
    Ok(deps.parent().unwrap_or(deps).join(name))
}
