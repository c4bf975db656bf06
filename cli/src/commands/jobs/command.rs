//! The options of `jobs`, and each action.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::{Value, json};

use super::audit;
use super::list::{self, Filter};
use crate::api::Api;
use crate::connection::ConnectionOptions;
use crate::file::download::{self, save};
use crate::file::upload;
use crate::job::wait::{WaitOptions, WatchOptions};
use crate::output::documents;
use crate::output::exit::{CODES, Exit, JOB_CODES};

/// Options of `jobs`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Subcommand)]
enum Action {
    /// List jobs, newest first
    #[command(after_help = CODES)]
    List {
        #[command(flatten)]
        filter: Filter,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a job as JSON
    #[command(after_help = CODES)]
    Get {
        /// Id of the job
        job: String,
    },
    /// Wait for the end of a job, and show its progress
    #[command(after_help = JOB_CODES)]
    Watch {
        /// Id of the job
        job: String,
        #[command(flatten)]
        watch: WatchOptions,
    },
    /// Stop a job; what was processed stays processed
    #[command(after_help = CODES)]
    Cancel {
        /// Id of the job
        job: String,
    },
    /// Retry the failed and unprocessed items of a job
    #[command(after_help = JOB_CODES)]
    Retry(Retry),
    /// Remove what an import has written, and restore what it has overwritten
    #[command(after_help = JOB_CODES)]
    Undo {
        /// Id of the job
        job: String,
        /// Report what the undo would do, and write nothing
        #[arg(long)]
        preview: bool,
        #[command(flatten)]
        wait: WaitOptions,
    },
    /// Write the failed items of a job with the reasons, as CSV
    #[command(after_help = CODES)]
    Failures {
        /// Id of the job
        job: String,
        /// File to write: a workbook if its name ends with .xlsx; `-` is standard output
        #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
        output: PathBuf,
        /// Print up to 1,000 of them as the API's JSON
        #[arg(long, conflicts_with = "output")]
        json: bool,
    },
    /// Write the outputs of the items, in the form that the job was created with
    #[command(after_help = CODES)]
    Results {
        /// Id of the job
        job: String,
        /// File to write; `-` is standard output
        #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
        output: PathBuf,
    },
    /// Recount a job from its stored data; exit code 1 if anything differs
    #[command(after_help = CODES)]
    Audit {
        /// Id of the job
        job: String,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a job and its files. Records stay; an import can no longer be undone
    #[command(after_help = CODES)]
    Delete {
        /// Id of the job
        job: String,
    },
}

#[derive(clap::Args)]
struct Retry {
    /// Id of the job
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
            Action::Watch { job, watch } => return watch.report(&watch.until_end(&api, &path(job, ""))?),
            Action::Cancel { job } => {
                api.cancel(&path(job, ""))?;
                println!("{job}: is being canceled; `longshore jobs watch {job}` waits for its end");
            }
            Action::Retry(retry) => return retry.execute(&api),
            Action::Undo { job, preview, wait } => {
                let request = json!({ "mode": if *preview { "validate" } else { "undo" } });
                let created = api.post(&path(job, "/undo"), Some(&request), "creating the undo")?;
                return wait.follow_and_report(&api, &self_link(&created)?);
            }
            Action::Failures { job, json: true, .. } => {
                documents::print(&api.get(&path(job, "/failures?limit=1000"), "reading the failures")?)?;
            }
            Action::Failures { job, output, json: false } => {
                download::check(output)?;
                download::failures(&api, job.trim(), output)?;
            }
            Action::Results { job, output } => results(&api, job, output)?,
            Action::Audit { job, json } => {
                return audit::report(&api.get(&path(job, "/audit"), "auditing the job")?, *json);
            }
            Action::Delete { job } => {
                documents::delete(&api, "/api/jobs", job, "deleting the job")?;
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
        let action = "retrying the job";
        let target = path(&self.job, "/retry");
        let job = match &self.corrected {
            None => api.post(&target, Some(&request), action)?,
            Some(file) => {
                let file = upload::open(file, None, "failed.csv")?;
                let retry = |id: &str| {
                    let mut request = request.clone();
                    request["fileGuid"] = id.into();
                    api.post(&target, Some(&request), action)
                };
                upload::upload_for(api, &file, retry)?
            }
        };
        self.wait.follow_and_report(api, &self_link(&job)?)
    }
}

/// Returns the path of a job, or of what belongs to it.
fn path(job: &str, rest: &str) -> String {
    format!("{}{rest}", documents::path("/api/jobs", job))
}

fn self_link(job: &Value) -> Result<String> {
    Ok(job["links"]["self"].as_str().context("the answer has no links.self")?.to_owned())
}

fn results(api: &Api, job: &str, output: &Path) -> Result<()> {
    download::check(output)?;
    let document = api.get(&path(job, "/output"), "reading the result")?;
    match document["files"]["results"]["href"].as_str() {
        Some(href) => save(api.file(href, "downloading the results")?, output),
        None => {
            eprintln!("the job has no results");
            Ok(())
        }
    }
}
