//! The independent check: Python's csv and jsonschema determine which rows are valid.

use anyhow::{Context, Result, bail, ensure};
use local_cloud::project::Project;
use local_cloud::tools::Tools;
use longshore_cli::api::Mode;
use longshore_cli::import::{Expected, Plan};
use longshore_cli::progress;

/// Reads and checks the file in Python.
pub(super) fn check_rows(project: &Project, tools: &Tools, plan: &Plan) -> Result<Expected> {
    let step = progress::step("Checking every row independently");
    let mut python = tools.command("python");
    python.env("PYTHONUTF8", "1").arg(project.infra("expected_rows.py")).arg(&plan.source.path);
    python.args(["--key", &plan.key]);
    if let Some(schema) = &plan.schema {
        python.arg("--schema").arg(schema);
    }
    if plan.mode == Mode::Insert {
        python.arg("--insert");
    }
    let output = python.output().context("cannot run the tools' Python")?;
    if !output.status.success() {
        bail!("the independent check failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let expected: Expected = serde_json::from_slice(&output.stdout)?;
    ensure!(
        expected.items == plan.source.items,
        "two independent row counts differ ({} and {}): is {} well-formed?",
        expected.items,
        plan.source.items,
        plan.source.path.display()
    );
    step.done();
    Ok(expected)
}
