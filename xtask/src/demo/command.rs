//! The command: the stack, the import, and the comparison of every row.

use super::{browser, expect};
use crate::up;
use anyhow::{Result, bail};
use local_cloud::project::Project;
use local_cloud::{guard, state, tools};
use longshore_cli::api::{Api, Mode};
use longshore_cli::import::{Import, Made, Plan, Source};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The default file and schema.
const DEFAULT_FILE: &str = "examples/data/airports.csv";
const DEFAULT_SCHEMA: &str = "examples/data/airports.schema.json";
const DEFAULT_KEY: &str = "icao";

/// Options of `demo`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A CSV or JSON Lines file [default: 28,298 airports of examples/data]
    file: Option<PathBuf>,
    /// JSON Schema (2020-12) that every row must satisfy [default: the airports' schema; none with a file of your
    /// own]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Dataset to import into [default: the file's name]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Column that identifies a row; required with a file of your own
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,
    /// Treatment of a row whose key exists already
    #[arg(long, value_enum, default_value = "upsert")]
    mode: Mode,
    /// Use the AWS emulator at this URL instead of starting one
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Open the job in a browser while it runs, and leave the stack running
    #[arg(long)]
    open: bool,
    /// Leave the stack running afterwards, even if the demo started it
    #[arg(long)]
    keep: bool,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let started = Instant::now();
    let plan = plan(project, options)?;
    let tools = tools::ensure(project)?;
    let was_up = state::read(project)?.is_up();
    // Before anything is started, so that nothing is left behind even if this process is killed.
    let guard = if was_up { None } else { Some(guard::post(project)?) };
    let up = up::Options { endpoint: options.endpoint.clone(), port: None };
    let outcome = up::bring_up(project, &up).and_then(|state| {
        let expected = |plan: &Plan| expect::ask(project, &tools, plan);
        let import = Import { plan: &plan, folder: project.state_dir()?.join("demo"), expected: &expected };
        import.run(&Api::new(&state.api_url, state.token()), &mut |made| {
            match made {
                Made::Job(url) if options.open => browser::show_job(&state, url),
                Made::Failures(file) => println!("\n  All of them, with their columns: {}", project.short(file)),
                Made::Upload(_) | Made::Job(_) => {}
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

/// The import that the options name.
fn plan(project: &Project, options: &Options) -> Result<Plan> {
    let (file, schema, key) = match (&options.file, &options.key) {
        (Some(file), Some(key)) => (file.clone(), options.schema.clone(), key.clone()),
        (Some(_), None) => bail!("which column tells the rows apart? Name it with --key COLUMN"),
        (None, key) => (
            project.root.join(DEFAULT_FILE),
            Some(options.schema.clone().unwrap_or_else(|| project.root.join(DEFAULT_SCHEMA))),
            key.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned()),
        ),
    };
    let source = Source::read(&file)?;
    let dataset = options.dataset.clone().unwrap_or_else(|| dataset_name(&file));
    Ok(Plan { source, schema, dataset, key, mode: options.mode })
}

/// The file's name without its extension, restricted to characters that are safe in a URL.
fn dataset_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}
