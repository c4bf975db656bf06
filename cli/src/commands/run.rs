//! `run`: a job of any type.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::import::{ReadingOptions, SharedOptions};
use crate::connection::ConnectionOptions;
use crate::file::upload;
use crate::job::wait::WaitOptions;
use crate::output::exit::{Exit, JOB_CODES};
use crate::values::{json as json_text, object};

/// Options of `run`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct RunOptions {
    /// Job type
    job_type: String,
    /// File with the items; `-` reads JSON Lines from standard input
    file: Option<PathBuf>,
    /// Items as a JSON array or @FILE, instead of a file
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    items: Option<String>,
    /// Dataset whose records are the items, instead of a file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "items"])]
    dataset: Option<String>,
    /// Options of the job, as a JSON object or @FILE
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Form of the results file, as a JSON object or @FILE, such as '{"format":"csv"}'
    #[arg(long, value_name = "JSON")]
    results: Option<String>,
    #[command(flatten)]
    reading: ReadingOptions,
    #[command(flatten)]
    shared: SharedOptions,
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

impl RunOptions {
    /// Runs the job.
    ///
    /// # Errors
    /// If the API refuses it.
    pub fn execute(&self) -> Result<Exit> {
        let api = self.connection.api(None)?;
        let request = self.request()?;
        let url = match &self.file {
            None => upload::create(&api, &request)?,
            Some(file) => {
                let file = upload::open(file, self.reading.name(), "standard-input.jsonl")?;
                upload::create_job(&api, &file, &request)?
            }
        };
        self.wait.follow_and_report(&api, &url)
    }

    fn request(&self) -> Result<Value> {
        let mut request = json!({ "jobType": self.job_type });
        let options = self.options.as_deref().map(|text| object("--options", text)).transpose()?;
        request["options"] = options.unwrap_or_default().into();
        if let Some(results) = &self.results {
            request["results"] = object("--results", results)?.into();
        }
        if let Some(items) = &self.items {
            request["items"] = json_text("--items", items)?;
        }
        if let Some(dataset) = &self.dataset {
            request["source"] = json!({ "dataset": dataset });
        }
        if let Some(reading) = self.reading.request() {
            request["reading"] = reading;
        }
        self.shared.add_to(&mut request);
        Ok(request)
    }
}
