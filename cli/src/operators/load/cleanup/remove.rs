//! The removal of a tenant's test data.

use std::collections::BTreeSet;
use std::mem;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use uuid::Uuid;

use crate::api::{Api, JobRemoval, is_final};
use crate::commands::jobs::jobs_with_metadata;

/// Time in which a canceled job ends, which normally takes seconds.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(120);

/// Time in which the records of a run are removed: 1,000 a second at the slowest, for the largest runs.
const RECORDS_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Maximum number of failures that the error lists.
const LISTED: usize = 5;

/// Test data of a tenant.
pub(super) struct Leftovers {
    /// Name of the run, which is the metadata `load` of its jobs.
    run: String,
    /// Dataset with records of the run.
    dataset: Option<String>,
    /// Jobs that may not have ended.
    open: BTreeSet<String>,
    /// Jobs that have ended, or could not be stopped.
    ended: BTreeSet<String>,
}

impl Leftovers {
    /// Creates the test data of a tenant without jobs.
    pub(super) fn new(run: String, dataset: Option<String>) -> Self {
        Self { run, dataset, open: BTreeSet::new(), ended: BTreeSet::new() }
    }

    /// Adds a job that was created.
    pub(super) fn created(&mut self, id: String) {
        self.open.insert(id);
    }

    /// Adds a job that has ended, and need not be canceled.
    pub(super) fn ended(&mut self, id: String) {
        self.open.remove(&id);
        self.ended.insert(id);
    }

    /// Removes everything: first the open jobs are stopped, because they write records; then the records are removed,
    /// because a deleted job counts as active until its data is removed; then the jobs. A failure does not prevent the
    /// other removals. Returns a sentence about what was removed; `None` if there was nothing.
    ///
    /// # Errors
    /// If something is left.
    pub(super) fn remove(mut self, api: &Api) -> Result<Option<String>> {
        let (start, mut failures) = (Instant::now(), Failures::default());
        let removal = JobRemoval::new(api, &start);
        self.stop_jobs(api, &removal, &mut failures);
        let (count, mut jobs) = (self.ended.len(), self.ended);
        let dataset = self.dataset.filter(|_| count > 0);
        if let Some(dataset) = &dataset {
            match remove_records(api, &removal, dataset) {
                Ok(job) => jobs.extend(job),
                Err(error) => failures.note(dataset, Err(error)),
            }
        }
        jobs.iter().for_each(|id| failures.note(id, removal.delete_job(id)));
        failures.check()?;
        let records = dataset.map_or_else(String::new, |name| format!(", and the records of {name}"));
        Ok((count > 0).then(|| format!("removed {count} jobs{records}")))
    }

    /// Stops the open jobs, and repeats this until the list of jobs has no others: a create can still be under way.
    fn stop_jobs(&mut self, api: &Api, removal: &JobRemoval<'_>, failures: &mut Failures) {
        loop {
            failures.note("some jobs may be left", self.find_jobs(api));
            let open = mem::take(&mut self.open);
            if open.is_empty() {
                return;
            }
            open.iter().for_each(|id| failures.note(id, removal.cancel_job(id)));
            for id in &open {
                failures.note(id, removal.wait_for_end(id, CANCEL_TIMEOUT).map(drop));
            }
            self.ended.extend(open);
        }
    }

    /// Adds the jobs whose creation was not reported: the answer was lost, or the command was killed.
    fn find_jobs(&mut self, api: &Api) -> Result<()> {
        for job in jobs_with_metadata(api, "load", &self.run)? {
            let id = job["jobId"].as_str().context("a job of the list has no id")?.to_owned();
            if job["status"].as_str().is_some_and(is_final) {
                self.ended(id);
            } else if !self.ended.contains(&id) {
                self.created(id);
            }
        }
        Ok(())
    }
}

/// Descriptions of what could not be removed.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn note(&mut self, subject: &str, result: Result<()>) {
        self.0.extend(result.err().map(|error| format!("{subject}: {error:#}")));
    }

    /// Returns the error of all failures.
    fn check(mut self) -> Result<()> {
        let more = self.0.len().saturating_sub(LISTED);
        let more = if more > 0 { format!("\n    and {more} more") } else { String::new() };
        self.0.truncate(LISTED);
        if self.0.is_empty() { Ok(()) } else { bail!("{}{more}", self.0.join("\n    ")) }
    }
}

/// Removes the records of a dataset. Returns the job that has done so; `None` if there is no such dataset.
fn remove_records(api: &Api, removal: &JobRemoval<'_>, dataset: &str) -> Result<Option<String>> {
    let action = "removing the records";
    let key = Uuid::new_v4().to_string();
    let path = format!("/api/datasets/{dataset}");
    let answer = api.repeat("DELETE", &path, &[("idempotency-key", key.as_str())], None, action)?;
    if answer.status() == 404 {
        return Ok(None);
    }
    let job: Value = answer.success(action)?.json(action)?;
    let id = job["jobId"].as_str().with_context(|| format!("{action}: the answer has no job"))?;
    let ended = removal.wait_for_end(id, RECORDS_TIMEOUT).with_context(|| format!("{action}: job {id}"))?;
    check_removed(id, ended.as_ref())?;
    Ok(Some(id.to_owned()))
}

/// Checks the last document of the job that removes the records.
///
/// # Errors
/// If it has not removed all of them.
fn check_removed(id: &str, job: Option<&Value>) -> Result<()> {
    let job = job.with_context(|| format!("records may be left: job {id} was deleted before its end"))?;
    let (status, failed) = (job["status"].as_str().unwrap_or_default(), job["counts"]["failed"].as_u64());
    let failed = failed.unwrap_or_default();
    ensure!(
        status == "completed" && failed == 0,
        "records are left: job {id}, which removes them, is {status}, and {failed} of its items failed"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_job_that_is_completed_without_failures_has_removed_the_records() {
        let check = |job: Option<Value>| check_removed("j", job.as_ref()).map_err(|error| error.to_string());
        assert_eq!(check(Some(json!({ "status": "completed", "counts": { "failed": 0 } }))), Ok(()));
        for job in [
            Some(json!({ "status": "failed" })),
            Some(json!({ "status": "canceled" })),
            Some(json!({ "status": "completed", "counts": { "failed": 1 } })),
            None,
        ] {
            let error = check(job.clone()).unwrap_err();
            assert!(error.contains("job j"), "{job:?} {error}");
        }
    }

    #[test]
    fn a_job_is_open_until_its_end() {
        let mut leftovers = Leftovers::new("load-1".to_owned(), None);
        leftovers.created("a".to_owned());
        leftovers.created("b".to_owned());
        leftovers.ended("a".to_owned());
        let set = |id: &str| BTreeSet::from([id.to_owned()]);
        assert_eq!((leftovers.open, leftovers.ended), (set("b"), set("a")));
    }
}
