//! Runs the tests of the Python scripts of `infra/local`. They need no package: boto3 is a stub.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

#[test]
fn the_tests_of_the_python_scripts_pass() -> Result<()> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/local/tests");
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "unittest", "discover", "--start-directory"]).arg(tests);
    let output = python.output().context("cannot run python3")?;
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && reported.contains("\nOK"), "{reported}");
    Ok(())
}
