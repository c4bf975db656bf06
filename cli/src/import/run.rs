//! Runs an import.

use super::plan::{Expected, Plan};
use super::{follow, receipt, report, show, verify};
use crate::api::Api;
use anyhow::{Result, bail};
use indicatif::{DecimalBytes, HumanCount};
use std::path::{Path, PathBuf};

/// Something that the import created.
pub enum Created<'a> {
    /// An upload, by id.
    Upload(&'a str),
    /// A job, by URL.
    Job(&'a str),
    /// The local file of the failed rows.
    Failures(&'a Path),
}

/// An import whose every row is verified.
pub struct Import<'a> {
    /// File and options.
    pub plan: &'a Plan,
    /// Folder for reports and receipt; deleted first.
    pub folder: PathBuf,
    /// Returns the result of an independent check of the rows. Called after the job has ended.
    pub expected: &'a dyn Fn(&Plan) -> Result<Expected>,
}

impl Import<'_> {
    /// Runs the import. Calls `on_created` for everything that it creates, as soon as it exists.
    ///
    /// # Errors
    /// If a call fails, or a check fails.
    pub fn run(&self, api: &Api, on_created: &mut dyn FnMut(Created<'_>) -> Result<()>) -> Result<()> {
        let Self { plan, folder, expected } = self;
        let had_records = api.has_records(&plan.dataset)?;
        let schema = if plan.schema.is_some() { ", checked against its schema" } else { "" };
        println!(
            "\nImporting {} ({} rows, {}{schema}) into dataset {}",
            show::short(&plan.source.path).display(),
            HumanCount(plan.source.items),
            DecimalBytes(plan.source.size_bytes),
            plan.dataset,
        );
        let file_guid = api.upload(&plan.source.file())?;
        on_created(Created::Upload(&file_guid))?;
        let job_url = api.create_job(&file_guid, plan.import_options()?, "normal")?;
        on_created(Created::Job(&job_url))?;
        let job = follow::until_end(api, &job_url)?;
        let output = api.output(&job.job_id)?;
        let failed = report::download(api, &output, folder)?;
        show::outcome(&job, &output, &failed);
        failed.path.as_deref().map(|path| on_created(Created::Failures(path))).transpose()?;
        println!();
        if job.status != "completed" {
            bail!("the job ended with status {}", job.status);
        }
        let outcome = verify::Outcome { output: &output, failed: &failed, had_records };
        verify::all(api, plan, &expected(plan)?, outcome)?;
        receipt::check(api, &output, &plan.source.path, folder)
    }
}
