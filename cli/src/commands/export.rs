//! `export`: a dataset to a file, or to standard output.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use ureq::Body;

use super::import::SharedOptions;
use crate::api::{Api, Job};
use crate::connection::ConnectionOptions;
use crate::file::{download, upload};
use crate::job::wait::{WaitOptions, conclude};
use crate::output::exit::{CommandError, Exit, JOB_CODES};
use crate::output::printable;
use crate::values::object;

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
    /// Property to export, under its own or another name, such as price or price=Preis; repeatable
    #[arg(long = "column", value_name = "PROPERTY[=NAME]")]
    columns: Vec<String>,
    /// Export only records that were changed since this time, such as 2026-02-13T18:30:00Z
    #[arg(long, value_name = "TIME")]
    updated_since: Option<String>,
    /// Form of the file, as a JSON object or @FILE, such as '{"delimiter":";"}'
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
        let is_piped = self.output == Path::new("-");
        if is_piped && self.wait.watch.json {
            let reason = "--json needs --output FILE: the records go to standard output";
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        download::check(&self.output)?;
        let api = self.connection.api(None)?;
        let mut source = json!({ "dataset": self.dataset });
        if let Some(since) = &self.updated_since {
            source["updatedSince"] = since.as_str().into();
        }
        let mut request = json!({ "jobType": "export", "source": source, "results": self.results()? });
        self.shared.add_to(&mut request);
        let Some(ended) = self.wait.follow(&api, &upload::create(&api, &request)?)? else { return Ok(Exit::Success) };
        // The records are on standard output.
        let exit = if is_piped { conclude(&ended) } else { self.wait.watch.report(&ended)? };
        // The file of an export that was stopped has only some of the records.
        if ended.job.status == "completed" {
            self.save(&api, &ended.job)?;
        }
        Ok(exit)
    }

    /// Saves the file of a completed export.
    fn save(&self, api: &Api, job: &Job) -> Result<()> {
        let output = api.get(&format!("/api/jobs/{}/output", job.job_id), "reading the result")?;
        for issue in output["issues"].as_array().into_iter().flatten() {
            eprintln!("  note: {}", printable(issue["message"].as_str().unwrap_or_default()));
        }
        let file = &output["files"]["results"];
        let Some(path) = file["href"].as_str() else { return self.save_nothing(job) };
        // A workbook that would be too large is CSV.
        let is_other = download::has_extension(&self.output, "xlsx")
            && file["name"].as_str().is_some_and(|name| name.ends_with(".csv"));
        let target = if is_other { Cow::Owned(self.output.with_extension("csv")) } else { Cow::Borrowed(&self.output) };
        download::save(api.file(path, "downloading the export")?, &target)?;
        if is_other {
            eprintln!("warning: the file is CSV, and is in {}", target.display());
        }
        Ok(())
    }

    /// Makes the target empty: an earlier file must not be taken for this export.
    fn save_nothing(&self, job: &Job) -> Result<()> {
        if job.counts.succeeded > 0 {
            bail!("the export has no file, although it has {} records; see the notes above", job.counts.succeeded);
        }
        if self.output == Path::new("-") {
            return Ok(());
        }
        if download::has_extension(&self.output, "xlsx") {
            let removed = fs::remove_file(&self.output)
                .or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) });
            removed.with_context(|| format!("cannot remove {}", self.output.display()))?;
            eprintln!("  There are no records, and so no workbook");
        } else {
            download::save(Body::builder().data(String::new()), &self.output)?;
            eprintln!("  There are no records; {} is empty", self.output.display());
        }
        Ok(())
    }

    fn results(&self) -> Result<Map<String, Value>> {
        let mut results =
            self.results.as_deref().map(|text| object("--results", text)).transpose()?.unwrap_or_default();
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
