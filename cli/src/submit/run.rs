//! `run`: a job of any type.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use super::import::{ReadingOptions, SharedOptions};
use super::input::Input;
use super::options::{json as json_text, object};
use super::wait::WaitOptions;
use crate::connection::ConnectionOptions;
use crate::exit::{Exit, JOB_CODES};

/// Options of `run`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct RunOptions {
    /// Job type
    job_type: String,
    /// File with the items; `-` reads JSON Lines from standard input
    file: Option<PathBuf>,
    /// Items as a JSON array, or @FILE with it, in place of a file
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    items: Option<String>,
    /// Dataset whose records are the items, in place of a file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "items"])]
    dataset: Option<String>,
    /// Options of the job as a JSON object, or @FILE with it
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Form of the results file as a JSON object, such as '{"format":"csv"}'
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
        let mut request = json!({ "jobType": self.job_type });
        let options = self.options.as_deref().map(object).transpose()?;
        request["options"] = options.unwrap_or_default().into();
        if let Some(results) = &self.results {
            request["results"] = object(results)?.into();
        }
        if let Some(items) = &self.items {
            request["items"] = json_text(items)?;
        }
        if let Some(dataset) = &self.dataset {
            request["source"] = json!({ "dataset": dataset });
        }
        if let Some(reading) = self.reading.request() {
            request["reading"] = reading;
        }
        self.shared.add_to(&mut request);
        if let Some(file) = &self.file {
            let input = Input::open(file, self.reading.name(), "standard-input.jsonl")?;
            request["fileGuid"] = input.upload(&api, &request.to_string())?.into();
        }
        match self.wait.create(&api, &request, "items")? {
            Some(ended) => self.wait.report(&ended, "items"),
            None => Ok(Exit::Success),
        }
    }
}
