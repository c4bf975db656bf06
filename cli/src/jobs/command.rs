//! The options of `jobs`, and each action.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use super::audit;
use super::list::{self, Filter};
use crate::api::Api;
use crate::connection::ConnectionOptions;
use crate::documents;
use crate::exit::{Exit, JOB_CODES};
use crate::submit::download::save;
use crate::submit::input::Input;
use crate::submit::wait::{Created, WaitOptions};

/// Options of `jobs`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct Options {
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List jobs, newest first
    List {
        #[command(flatten)]
        filter: Filter,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a job as JSON
    Get { job: String },
    /// Wait for the end of a job, and show its progress
    Watch {
        job: String,
        #[command(flatten)]
        wait: WaitOptions,
    },
    /// Stop a job; what was processed stays processed
    Cancel { job: String },
    /// Run the failed and unprocessed items of a job again
    Retry(Retry),
    /// Remove what an import has written, and restore what it has overwritten
    Undo {
        job: String,
        /// Report what the undo would do, and write nothing
        #[arg(long)]
        preview: bool,
        #[command(flatten)]
        wait: WaitOptions,
    },
    /// Write the failed items of a job with the reasons, as CSV
    Failures {
        job: String,
        /// File to write: a workbook if its name ends with .xlsx; `-` is standard output
        #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
        output: PathBuf,
        /// Print up to 1,000 of them as the API's JSON
        #[arg(long, conflicts_with = "output")]
        json: bool,
    },
    /// Write the outputs of the items, in the form that the job was created with
    Results {
        job: String,
        /// File to write; `-` is standard output
        #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
        output: PathBuf,
    },
    /// Recount a job from its stored data; exit code 1 if anything differs
    Audit {
        job: String,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a job with its files; records stay
    Delete { job: String },
}

#[derive(clap::Args)]
struct Retry {
    job: String,
    /// Corrected file of the failed items, as `failures` has written it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["code", "field"])]
    corrected: Option<PathBuf>,
    /// Only items that failed with this code
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Only items that failed with this field, too
    #[arg(long, value_name = "FIELD", requires = "code")]
    field: Option<String>,
    #[command(flatten)]
    wait: WaitOptions,
}

impl Options {
    /// Runs the command.
    ///
    /// # Errors
    /// If the API refuses the call.
    pub fn execute(&self) -> Result<Exit> {
        let api = self.connection.api(None)?;
        match &self.action {
            Action::List { filter, json } => list::print(&filter.jobs(&api)?, *json)?,
            Action::Get { job } => documents::print(&api.get(&path(job, ""), "reading the job")?)?,
            Action::Watch { job, wait } => return follow(&api, path(job, ""), wait),
            Action::Cancel { job } => {
                api.post_json(&path(job, "/cancel"), None, "canceling the job")?;
                println!("{job}: is being canceled; `longshore jobs watch {job}` waits for its end");
            }
            Action::Retry(retry) => return retry.execute(&api),
            Action::Undo { job, preview, wait } => {
                let request = json!({ "mode": if *preview { "validate" } else { "undo" } });
                let created = api.post_json(&path(job, "/undo"), Some(&request), "creating the undo")?;
                return follow(&api, self_of(&created), wait);
            }
            Action::Failures { job, output, json } => failures(&api, job, output, *json)?,
            Action::Results { job, output } => results(&api, job, output)?,
            Action::Audit { job, json } => {
                return audit::report(&api.get(&path(job, "/audit"), "auditing the job")?, *json);
            }
            Action::Delete { job } => {
                api.send("DELETE", &path(job, ""), &[], None)?.success("deleting the job")?;
                println!("{job}: deleted");
            }
        }
        Ok(Exit::Success)
    }
}

impl Retry {
    fn execute(&self, api: &Api) -> Result<Exit> {
        let mut request = json!({});
        for (name, value) in [("code", &self.code), ("field", &self.field)] {
            if let Some(value) = value {
                request[name] = value.as_str().into();
            }
        }
        if let Some(file) = &self.corrected {
            let input = Input::open(file, None, "failed.csv")?;
            request["fileGuid"] = input.upload(api, &format!("retry {}", self.job))?.into();
        }
        let job = api.post_json(&path(&self.job, "/retry"), Some(&request), "retrying the job")?;
        follow(api, self_of(&job), &self.wait)
    }
}

/// Returns the path of a job, or of what belongs to it.
fn path(job: &str, rest: &str) -> String {
    format!("{}{rest}", documents::path("/api/jobs", job))
}

fn self_of(job: &Value) -> String {
    job["links"]["self"].as_str().unwrap_or_default().to_owned()
}

/// Waits for the end of a job, unless the options say otherwise.
fn follow(api: &Api, url: String, wait: &WaitOptions) -> Result<Exit> {
    match wait.follow(api, &Created { url, noun: "items" })? {
        Some(ended) => wait.report(&ended, "items"),
        None => Ok(Exit::Success),
    }
}

fn failures(api: &Api, job: &str, output: &std::path::Path, as_json: bool) -> Result<()> {
    if as_json {
        return documents::print(&api.get(&path(job, "/failures?limit=1000"), "reading the failures")?);
    }
    let format = if output.extension().is_some_and(|end| end == "xlsx") { "xlsx" } else { "csv" };
    save(api.file(&path(job, &format!("/failures?format={format}")), "reading the failures")?, output)
}

fn results(api: &Api, job: &str, output: &std::path::Path) -> Result<()> {
    let document = api.get(&path(job, "/output"), "reading the result")?;
    match document["files"]["results"]["href"].as_str() {
        Some(href) => save(api.file(href, "downloading the results")?, output),
        None => {
            eprintln!("the job has no results");
            Ok(())
        }
    }
}
