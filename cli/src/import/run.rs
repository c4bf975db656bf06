//! The import.

use super::plan::{Expected, Plan};
use super::{follow, receipt, report, show, verify};
use crate::api::Api;
use anyhow::{Result, bail};
use indicatif::{DecimalBytes, HumanCount};
use std::path::{Path, PathBuf};

/// Something that the import created, reported as soon as it exists.
pub enum Made<'a> {
    /// The id of an upload.
    Upload(&'a str),
    /// The URL of a job.
    Job(&'a str),
    /// The local file of the rows that failed.
    Failures(&'a Path),
}

/// An import through a deployment that verifies every row.
pub struct Import<'a> {
    /// The import.
    pub plan: &'a Plan,
    /// Folder for reports and receipt; replaced.
    pub folder: PathBuf,
    /// The independent check of the rows, called once the job has ended.
    pub expected: &'a dyn Fn(&Plan) -> Result<Expected>,
}

impl Import<'_> {
    /// Runs the import.
    ///
    /// # Errors
    /// If a call fails, or a row is not accounted for.
    pub fn run(&self, api: &Api, made: &mut dyn FnMut(Made<'_>) -> Result<()>) -> Result<()> {
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
        made(Made::Upload(&file_guid))?;
        let job = api.create_job(&file_guid, plan.import_options()?, "normal")?;
        made(Made::Job(&job))?;
        let job = follow::to_its_end(api, &job)?;
        let output = api.output(&job.job_id)?;
        let failed = report::fetch(api, &output, folder)?;
        show::outcome(&job, &output, &failed);
        failed.path.as_deref().map(|path| made(Made::Failures(path))).transpose()?;
        println!();
        if job.status != "completed" {
            bail!("the job ended as {}", job.status);
        }
        verify::all(api, plan, &expected(plan)?, verify::Outcome { output: &output, failed: &failed, had_records })?;
        receipt::check(api, &output, &plan.source.path, folder)
    }
}
