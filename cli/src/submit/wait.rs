//! The wait for the end of a job, and its outcome.

use std::time::Duration;

use anyhow::Result;
use indicatif::HumanCount;
use serde_json::Value;

use crate::api::{Api, Job};
use crate::documents::print;
use crate::exit::Exit;
use crate::interrupt;
use crate::watch::{Ended, Watch};

/// Options of commands that wait for a job.
#[derive(clap::Args)]
pub(crate) struct WaitOptions {
    /// Do not wait for the end of the job; print its id
    #[arg(long, conflicts_with = "timeout")]
    no_wait: bool,
    /// Stop waiting after this time, such as 90, 15m or 2h, with exit code 6; the job goes on
    #[arg(long, value_name = "TIME", value_parser = super::options::duration)]
    timeout: Option<Duration>,
    /// Print the job as the API's JSON
    #[arg(long)]
    json: bool,
}

/// A job that has been created.
pub(crate) struct Created {
    /// URL of the job.
    pub(crate) url: String,
    /// What its items are called.
    pub(crate) noun: &'static str,
}

impl WaitOptions {
    /// Creates the job, and waits for its end. Returns what has ended; `None` if the command does not wait.
    pub(crate) fn create(&self, api: &Api, request: &Value, noun: &'static str) -> Result<Option<Ended>> {
        self.follow(api, &Created { url: api.create(request)?, noun })
    }

    /// Waits for the end of a job that was created, unless the options say otherwise; then it prints the job's id.
    pub(crate) fn follow(&self, api: &Api, created: &Created) -> Result<Option<Ended>> {
        let id = id_of(&created.url);
        if !self.no_wait {
            eprintln!("  Job {id}");
            return self.wait(api, created).map(Some);
        }
        if self.json {
            print(&api.get(&created.url, "reading the job")?)?;
        } else {
            println!("{id}");
        }
        Ok(None)
    }

    /// Waits for the end of a job.
    fn wait(&self, api: &Api, created: &Created) -> Result<Ended> {
        let id = id_of(&created.url);
        interrupt::hint(format!(
            "interrupted; the job goes on: `longshore jobs watch {id}` waits for it, `longshore jobs cancel {id}` stops it"
        ));
        let watch = Watch { api, url: &created.url, timeout: self.timeout, noun: created.noun };
        let ended = watch.until_end(&mut |_| Ok(()))?;
        interrupt::hint("");
        Ok(ended)
    }

    /// Prints the outcome of a job to standard output. Returns the exit code.
    pub(crate) fn report(&self, ended: &Ended, noun: &str) -> Result<Exit> {
        if self.json {
            print(&ended.document)?;
        } else {
            println!("{}", summary(&ended.job, noun));
        }
        for issue in ended.document["issues"].as_array().into_iter().flatten() {
            eprintln!("  note: {}", issue["message"].as_str().unwrap_or_default());
        }
        Ok(self.conclude(ended))
    }

    /// Prints the next step to standard error. Returns the exit code.
    pub(crate) fn conclude(&self, ended: &Ended) -> Exit {
        let job = &ended.job;
        match (job.status.as_str(), job.counts.failed) {
            ("completed", 0) => return Exit::Success,
            ("completed", _) => {}
            (status, _) => {
                let message = ended.document["error"]["message"].as_str().unwrap_or(status);
                eprintln!(
                    "error: the job {status}: {message}",
                    status = if status == "failed" { "failed" } else { "was canceled" }
                );
            }
        }
        if job.counts.failed > 0 {
            eprintln!("  `longshore jobs failures {}` shows why they failed", job.job_id);
        }
        if job.status == "completed" { Exit::ItemsFailed } else { Exit::JobEnded }
    }
}

/// Returns the id at the end of a job's URL.
fn id_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

/// Returns a line with the outcome of a job.
fn summary(job: &Job, noun: &str) -> String {
    let counts = job.counts;
    let mut parts = vec![format!("{} {noun} succeeded", HumanCount(counts.succeeded))];
    for (count, what) in [(counts.failed, "failed"), (counts.skipped, "were skipped")] {
        if count > 0 {
            parts.push(format!("{} {what}", HumanCount(count)));
        }
    }
    let not_processed = job.item_count.saturating_sub(counts.succeeded + counts.failed + counts.skipped);
    if not_processed > 0 {
        parts.push(format!("{} were not processed", HumanCount(not_processed)));
    }
    format!("{}: {}", job.status, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_summary_has_every_item_once() -> Result<()> {
        let job = |counts: Value, items: u64, status: &str| -> Result<Job> {
            Ok(serde_json::from_value(json!({ "jobId": "j", "status": status, "message": "", "itemCount": items,
                "itemCountFinal": true, "itemProgress": 0, "percent": 0, "counts": counts }))?)
        };
        let counts = json!({ "succeeded": 1_234, "failed": 2, "skipped": 0 });
        let line = summary(&job(counts, 1_236, "completed")?, "rows");
        assert_eq!(line, "completed: 1,234 rows succeeded, 2 failed");
        let counts = json!({ "succeeded": 0, "failed": 0, "skipped": 1 });
        let line = summary(&job(counts, 4, "canceled")?, "items");
        assert_eq!(line, "canceled: 0 items succeeded, 1 were skipped, 3 were not processed");
        Ok(())
    }
}
