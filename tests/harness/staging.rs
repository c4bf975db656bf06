//! A folder to deploy from: the template, and every function's binary at the path that the template names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Job types of the deployed functions.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum JobTypes {
    /// Those of the product.
    Product,
    /// Those of the product and of the probe: the probe's binary replaces each function that runs job types.
    Probe,
}

/// The functions, each with a flag: true if it runs job types.
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

/// Fills `folder` with the template and the binaries of the functions.
///
/// # Errors
/// If a binary is missing. Binaries are built beforehand, by `cargo xtask test` or `cargo build --workspace --bins`.
pub fn stage(folder: &Path, job_types: JobTypes) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["template.yaml", "samconfig.toml"] {
        fs::copy(root.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    for (function, runs_job_types) in FUNCTIONS {
        let is_probe = runs_job_types && job_types == JobTypes::Probe;
        let binary = match std::env::var_os(measurements::PROBE).filter(|_| is_probe) {
            Some(path) => path.into(),
            None => binary_path(if is_probe { "probe" } else { function })?,
        };
        let target = folder.join("target/lambda").join(function);
        fs::create_dir_all(&target)?;
        // The file is copied: a link cannot cross file systems, and a concurrent build may replace the binary.
        fs::copy(&binary, target.join("bootstrap")).with_context(|| {
            format!("{} is missing: build it with `cargo build --workspace --bins`", binary.display())
        })?;
    }
    Ok(())
}

/// Path of a binary that cargo has built in this profile. Tests are in the folder `deps` beside the binaries.
fn binary_path(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let deps = test.parent().context("the path of this test has no folder")?;
    Ok(deps.parent().unwrap_or(deps).join(name))
}
