//! Runs an import. Polls its job until it ends, shows its messages with a bar and an ETA, and verifies in every
//! response that progress is exact and never decreases.

use super::plan::{Expected, Plan};
use super::{report, show, verify};
use crate::api::{Api, Job, LocalFile};
use crate::job::watch::Watch;
use anyhow::{Result, bail, ensure};
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
        let file_guid = api.upload(&LocalFile::open(&plan.source.path)?)?;
        on_created(Created::Upload(&file_guid))?;
        let job_url = api.create(&plan.request(&file_guid)?)?;
        on_created(Created::Job(&job_url))?;
        let job = until_end(api, &job_url)?;
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
        report::check_receipt(api, &output, &plan.source.path, folder)
    }
}

/// Waits for the end of the job, and checks each document. Returns the final one.
fn until_end(api: &Api, url: &str) -> Result<Job> {
    let mut last: Option<Job> = None;
    let mut observe = |job: &Job| {
        check(last.as_ref(), job)?;
        last = Some(job.clone());
        Ok(())
    };
    Ok(Watch { api, url, timeout: None }.until_end(&mut observe)?.job)
}

/// Checks the invariants of one document, and of two consecutive ones.
fn check(before: Option<&Job>, now: &Job) -> Result<()> {
    let counts = now.counts;
    let (done, all) = (now.item_progress, now.item_count);
    ensure!(
        counts.succeeded + counts.failed + counts.skipped == done,
        "the counts {counts:?} do not add up to itemProgress {done}"
    );
    ensure!(done <= all, "itemProgress {done} is greater than itemCount {all}");
    ensure!(now.percent <= 100, "percent is {}", now.percent);
    if let Some(before) = before {
        ensure!(done >= before.item_progress, "itemProgress decreased from {} to {done}", before.item_progress);
        ensure!(now.percent >= before.percent, "percent decreased from {} to {}", before.percent, now.percent);
        ensure!(
            !before.item_count_final || (now.item_count_final && all == before.item_count),
            "the final itemCount changed from {} to {all}",
            before.item_count
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(progress: u64, failed: u64, all: u64) -> Result<Job> {
        Ok(serde_json::from_value(serde_json::json!({
            "jobId": "j", "status": "running", "message": "Job running", "itemCount": all, "itemCountFinal": true,
            "itemProgress": progress, "percent": 0,
            "counts": { "succeeded": progress - failed, "failed": failed, "skipped": 0, "pending": 0 }
        }))?)
    }

    #[test]
    fn progress_that_is_wrong_or_decreases_is_an_error() -> Result<()> {
        check(Some(&job(3, 1, 9)?), &job(9, 1, 9)?)?;
        assert!(check(Some(&job(3, 1, 9)?), &job(2, 1, 9)?).is_err());
        assert!(check(None, &job(10, 1, 9)?).is_err());
        assert!(check(Some(&job(3, 1, 9)?), &job(3, 1, 8)?).is_err());
        let mut wrong = job(3, 1, 9)?;
        wrong.counts.skipped = 1;
        assert!(check(None, &wrong).is_err());
        Ok(())
    }
}
