//! `demo`: imports a real file through the deployed stack, as a browser would, and verifies every row.
//!
//! The checks are independent of the stack: rows are counted here with the csv crate, another implementation in
//! another language decides their validity, and the records are read back one by one.

mod browser;
mod expect;
mod follow;
mod receipt;
mod records;
mod report;
mod show;
mod source;
mod verify;

use crate::api::{Api, ImportOptions, Mode};
use crate::project::Project;
use crate::tools::{self, Tools};
use crate::{guard, state, up};
use anyhow::{Context, Result, bail};
use source::Source;
use std::fs;
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
    let plan = Plan::new(project, options)?;
    let tools = tools::ensure(project)?;
    let was_up = state::read(project)?.is_up();
    // Before anything is started, so that nothing is left behind even if this process is killed.
    let guard = if was_up { None } else { Some(guard::post(project)?) };
    let up = up::Options { endpoint: options.endpoint.clone(), port: None };
    let outcome = up::bring_up(project, &up).and_then(|state| {
        let import = Import { project, tools: &tools, plan: &plan, folder: project.state_dir()?.join("demo") };
        import.run(&Api::new(&state.api_url, state.token()), &mut |made| {
            if let (Made::Job(url), true) = (made, options.open) {
                browser::show_job(&state, url);
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

/// An import: its file and options.
pub(crate) struct Plan {
    source: Source,
    schema: Option<PathBuf>,
    dataset: String,
    key: String,
    mode: Mode,
}

impl Plan {
    fn new(project: &Project, options: &Options) -> Result<Self> {
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
        Ok(Self { source, schema, dataset, key, mode: options.mode })
    }

    /// A plan for a file with a schema and the key column `id`, into its own dataset.
    pub(crate) fn for_dataset(dataset: &str, file: &Path, schema: &Path) -> Result<Self> {
        Ok(Self {
            source: Source::read(file)?,
            schema: Some(schema.to_owned()),
            dataset: dataset.to_owned(),
            key: "id".to_owned(),
            mode: Mode::Upsert,
        })
    }

    fn import_options(&self) -> Result<ImportOptions> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        Ok(ImportOptions { dataset: self.dataset.clone(), key: self.key.clone(), schema, mode: self.mode })
    }
}

fn read_schema(path: &Path) -> Result<serde_json::Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// The file's name without its extension, restricted to characters that are safe in a URL.
fn dataset_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Something that the import created in a deployment, reported as soon as it exists.
pub(crate) enum Made<'a> {
    /// The id of an upload.
    Upload(&'a str),
    /// The URL of a job.
    Job(&'a str),
}

/// An import through a deployment that verifies every row.
pub(crate) struct Import<'a> {
    /// The checkout whose scripts check the rows.
    pub(crate) project: &'a Project,
    /// The tools that run the scripts.
    pub(crate) tools: &'a Tools,
    /// The import.
    pub(crate) plan: &'a Plan,
    /// Folder for reports and receipt.
    pub(crate) folder: PathBuf,
}

impl Import<'_> {
    /// Runs the import. Fails if a row is not accounted for.
    pub(crate) fn run(&self, api: &Api, made: &mut dyn FnMut(Made<'_>) -> Result<()>) -> Result<()> {
        let Self { project, tools, plan, folder } = self;
        let had_records = api.has_records(&plan.dataset)?;
        let schema = if plan.schema.is_some() { ", checked against its schema" } else { "" };
        println!(
            "\nImporting {} ({} rows, {}{schema}) into dataset {}",
            project.short(&plan.source.path),
            show::number(plan.source.items),
            show::size(plan.source.size_bytes),
            plan.dataset,
        );
        let file_guid = api.upload(&plan.source.file())?;
        made(Made::Upload(&file_guid))?;
        let job = api.create_job(&file_guid, plan.import_options()?, "normal")?;
        made(Made::Job(&job))?;
        let job = follow::to_its_end(api, &job)?;
        let output = api.output(&job.job_id)?;
        let failed = report::fetch(api, &output, folder)?;
        show::outcome(project, &job, &output, &failed);
        if job.status != "completed" {
            bail!("the job ended as {}", job.status);
        }
        let expected = expect::ask(project, tools, plan)?;
        verify::all(api, plan, &expected, &output, &failed, had_records)?;
        receipt::check(api, &output, &plan.source.path, folder)
    }
}
