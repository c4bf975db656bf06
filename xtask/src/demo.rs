//! `demo`: imports a real file through the local stack, as a browser would, and verifies every row.
//!
//! The checks are independent of the stack: rows are counted with the csv crate, a Python program determines which rows
//! are valid, and all records are read back.

use crate::up;
use anyhow::{Context, Result, bail, ensure};
use local_cloud::guard;
use local_cloud::project::Project;
use local_cloud::state::{self, State};
use local_cloud::tools::{self, Tools};
use longshore_cli::api::{Api, Mode};
use longshore_cli::progress;
use longshore_cli::verified_import::{Created, Expected, Import, Plan, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The default file and schema.
const DEFAULT_FILE: &str = "examples/data/airports.csv";
const DEFAULT_SCHEMA: &str = "examples/data/airports.schema.json";
const DEFAULT_KEY: &str = "icao";

/// Options of `demo`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A CSV or JSON Lines file [default: examples/data/airports.csv, with 28,298 rows]
    file: Option<PathBuf>,
    /// JSON Schema (2020-12) that every row must satisfy [default: the airports' schema; none for your own FILE]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Dataset to import into [default: the file's name]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Column that identifies a row; required with your own FILE
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,
    /// Treatment of a row whose key already exists
    #[arg(long, value_enum, default_value = "upsert")]
    mode: Mode,
    /// Use the AWS emulator at this URL instead of starting one
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Open the job in a browser while it runs, and keep the stack running
    #[arg(long)]
    open: bool,
    /// Keep the stack running afterwards, even if the demo started it
    #[arg(long)]
    keep: bool,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let started = Instant::now();
    let plan = plan(project, options)?;
    let tools = tools::ensure(project)?;
    let was_up = state::read(project)?.is_up();
    // Before the stack starts, so that the guard stops it even if this process is killed.
    let guard = if was_up { None } else { Some(guard::post(project)?) };
    let up = up::Options { endpoint: options.endpoint.clone(), port: None };
    let outcome = up::bring_up(project, &up).and_then(|state| {
        let expected = |plan: &Plan| check_rows(project, &tools, plan);
        let import = Import { plan: &plan, folder: project.state_dir()?.join("demo"), expected: &expected };
        import.run(&Api::new(&state.api_url, state.token()), &mut |created| {
            match created {
                Created::Job(url) if options.open => show_job(&state, url),
                Created::Failures(file) => println!("\n  All failed rows, with their columns: {}", project.short(file)),
                Created::Upload(_) | Created::Job(_) => {}
            }
            Ok(())
        })
    });
    if let Some(guard) = guard
        && (options.keep || options.open)
    {
        guard.keep()?;
    }
    outcome?;
    println!("\nDemo passed in {:.0} s.", started.elapsed().as_secs_f32());
    Ok(())
}

/// Returns the import for these options.
fn plan(project: &Project, options: &Options) -> Result<Plan> {
    let (file, schema, key) = match (&options.file, &options.key) {
        (Some(file), Some(key)) => (file.clone(), options.schema.clone(), key.clone()),
        (Some(_), None) => bail!("FILE requires --key COLUMN: the column that identifies a row"),
        (None, key) => (
            project.root.join(DEFAULT_FILE),
            Some(options.schema.clone().unwrap_or_else(|| project.root.join(DEFAULT_SCHEMA))),
            key.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned()),
        ),
    };
    let source = Source::read(&file)?;
    let dataset = options.dataset.clone().unwrap_or_else(|| dataset_name(&file));
    Ok(Plan { source, schema, dataset, key, mode: options.mode, metadata: BTreeMap::new() })
}

/// Returns the file's name without its extension. Replaces characters that are not safe in a URL.
fn dataset_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Reads and checks the file in Python. The check is independent: Python's csv and jsonschema determine which rows are
/// valid.
fn check_rows(project: &Project, tools: &Tools, plan: &Plan) -> Result<Expected> {
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

/// Prints the URL of a job's page, and opens it in the local browser. `url` is the job's URL in the API.
fn show_job(state: &State, url: &str) {
    // `/api/jobs/ID` is the job as JSON, `/jobs/ID` is its page.
    let page = url.replacen("/api/jobs/", "/jobs/", 1);
    println!("\n  page      {page}");
    up::show_sign_in(state);
    println!();
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start"]),
        _ => ("xdg-open", &[]),
    };
    // The browser's messages are not related to the demo.
    let mut browser = Command::new(program);
    browser.args(arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if browser.spawn().is_err() {
        println!("  Cannot open a browser: open this URL yourself.");
    }
}
