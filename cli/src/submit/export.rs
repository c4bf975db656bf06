//! `export`: a dataset to a file, or to standard output.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::download;
use super::import::SharedOptions;
use super::wait::WaitOptions;
use crate::connection::ConnectionOptions;
use crate::exit::{Exit, JOB_CODES};

/// Options of `export`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct ExportOptions {
    /// Dataset to export
    dataset: String,
    /// File to write; `-` is standard output [default: standard output]
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Format [default: by the name of the file, else jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl", "csv", "xlsx"])]
    format: Option<String>,
    /// Compress JSON Lines or CSV with gzip
    #[arg(long)]
    gzip: bool,
    /// Property to export, under its own or another name, such as price or price=Preis; repeat it for each
    #[arg(long = "column", value_name = "PROPERTY[=NAME]")]
    columns: Vec<String>,
    /// Export only records that were changed since this time, such as 2026-02-13T18:30:00Z
    #[arg(long, value_name = "TIME")]
    updated_since: Option<String>,
    /// Further members of the request's `results` as a JSON object, or @FILE with it, such as '{"delimiter":";"}'
    #[arg(long, value_name = "JSON")]
    results: Option<String>,
    #[command(flatten)]
    shared: SharedOptions,
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

impl ExportOptions {
    /// Exports the dataset.
    ///
    /// # Errors
    /// If the API refuses it.
    pub fn execute(&self) -> Result<Exit> {
        let api = self.connection.api(None)?;
        let mut source = json!({ "dataset": self.dataset });
        if let Some(since) = &self.updated_since {
            source["updatedSince"] = since.as_str().into();
        }
        let mut request = json!({ "jobType": "export", "source": source, "results": self.results()? });
        self.shared.add_to(&mut request);
        let Some(ended) = self.wait.create(&api, &request, "records")? else { return Ok(Exit::Success) };
        let output = api.get(&format!("/api/jobs/{}/output", ended.job.job_id), "reading the result")?;
        match output["files"]["results"]["href"].as_str() {
            Some(path) => download::save(api.file(path, "downloading the export")?, &self.output)?,
            None => eprintln!("  There are no records, and so there is no file"),
        }
        // The data are on standard output.
        if self.output == Path::new("-") { Ok(self.wait.conclude(&ended)) } else { self.wait.report(&ended, "records") }
    }

    fn results(&self) -> Result<Map<String, Value>> {
        let mut results = self.results.as_deref().map(super::options::object).transpose()?.unwrap_or_default();
        let name = self.output.to_string_lossy().to_ascii_lowercase();
        let (bare, is_gzip) = name.strip_suffix(".gz").map_or((name.as_str(), false), |bare| (bare, true));
        let of_name = ["csv", "xlsx"].into_iter().find(|end| bare.ends_with(&format!(".{end}")));
        if let Some(format) = self.format.as_deref().or(of_name) {
            results.insert("format".to_owned(), format.into());
        }
        if self.gzip || is_gzip {
            results.insert("gzip".to_owned(), true.into());
        }
        let column = |text: &String| match text.split_once('=') {
            Some((property, name)) => json!({ "name": property, "as": name }),
            None => json!({ "name": text }),
        };
        if !self.columns.is_empty() {
            results.insert("columns".to_owned(), self.columns.iter().map(column).collect());
        }
        Ok(results)
    }
}
