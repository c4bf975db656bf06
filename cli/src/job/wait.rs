//! The wait for the end of a job, and its outcome.

use std::time::Duration;

use anyhow::Result;
use indicatif::HumanCount;

use crate::api::{Api, Job};
use crate::job::watch::{EndedJob, Watch};
use crate::output::documents::print;
use crate::output::exit::Exit;
use crate::output::interrupt;
use crate::output::printable;

/// Options of commands that watch a job.
#[derive(clap::Args)]
pub(crate) struct WatchOptions {
    /// Stop waiting after this time, such as 90, 15m or 2h, with exit code 6; the job goes on
    #[arg(long, value_name = "TIME", value_parser = crate::values::duration)]
    timeout: Option<Duration>,
    /// Print the job as the API's JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of commands that create a job.
#[derive(clap::Args)]
pub(crate) struct WaitOptions {
    /// Do not wait for the end of the job; print its id
    #[arg(long, conflicts_with = "timeout")]
    no_wait: bool,
    #[command(flatten)]
    pub(crate) watch: WatchOptions,
}

impl WaitOptions {
    /// Waits for the end of a job that was created. Returns what has ended; `None` if the command does not wait: then it
    /// prints the job's id.
    pub(crate) fn follow(&self, api: &Api, url: &str) -> Result<Option<EndedJob>> {
        if !self.no_wait {
            eprintln!("  Job {}", job_id(url));
            return self.watch.until_end(api, url).map(Some);
        }
        if self.watch.json {
            print(&api.get(url, "reading the job")?)?;
        } else {
            println!("{}", job_id(url));
        }
        Ok(None)
    }

    /// Waits for the end of a job that was created, and reports it. Returns the exit code.
    pub(crate) fn follow_and_report(&self, api: &Api, url: &str) -> Result<Exit> {
        self.follow(api, url)?.map_or(Ok(Exit::Success), |ended| self.watch.report(&ended))
    }
}

impl WatchOptions {
    /// Waits for the end of a job.
    pub(crate) fn until_end(&self, api: &Api, url: &str) -> Result<EndedJob> {
        let id = job_id(url);
        interrupt::hint(format!(
            "interrupted; the job goes on: `longshore jobs watch {id}` waits for it, `longshore jobs cancel {id}` stops it"
        ));
        let ended = Watch { api, url, timeout: self.timeout }.until_end(&mut |_| Ok(()))?;
        interrupt::hint("");
        Ok(ended)
    }

    /// Prints the outcome of a job to standard output. Returns the exit code.
    pub(crate) fn report(&self, ended: &EndedJob) -> Result<Exit> {
        if self.json {
            print(&ended.document)?;
        } else {
            println!("{}", summary(&ended.job));
        }
        Ok(conclude(ended))
    }
}

/// Prints what a person should know of the outcome to standard error. Returns the exit code.
pub(crate) fn conclude(ended: &EndedJob) -> Exit {
    let (job, document) = (&ended.job, &ended.document);
    for issue in document["issues"].as_array().into_iter().flatten() {
        eprintln!("  note: {}", printable(issue["message"].as_str().unwrap_or_default()));
    }
    if let Some(dollars) = document["cost"]["total"].as_f64() {
        eprintln!("  The job has cost about ${dollars:.6}");
    }
    match job.status.as_str() {
        "failed" => {
            let message = document["error"]["message"].as_str().unwrap_or("no reason is known");
            eprintln!("error: the job failed: {}", printable(message));
        }
        "canceled" => eprintln!("error: the job was canceled"),
        _ => {}
    }
    if job.counts.failed > 0 {
        eprintln!(
            "  `longshore jobs failures {} --output failed.csv` writes the failed items with the reasons",
            job.job_id
        );
    }
    match (job.status.as_str(), job.counts.failed) {
        ("completed", 0) => Exit::Success,
        ("completed", _) => Exit::ItemsFailed,
        _ => Exit::JobFailed,
    }
}

/// Returns the id at the end of a job's URL.
fn job_id(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

/// Returns a line with the outcome of a job.
fn summary(job: &Job) -> String {
    let counts = job.counts;
    let mut parts = vec![format!("{} items succeeded", HumanCount(counts.succeeded))];
    let not_processed = job.item_count.saturating_sub(counts.succeeded + counts.failed + counts.skipped);
    for (count, what) in
        [(counts.failed, "failed"), (counts.skipped, "were skipped"), (not_processed, "were not processed")]
    {
        if count > 0 {
            parts.push(format!("{} {what}", HumanCount(count)));
        }
    }
    format!("{}: {}", job.status, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_summary_has_every_item_once() -> Result<()> {
        let job = |counts: Value, items: u64, status: &str| -> Result<Job> {
            Ok(serde_json::from_value(json!({ "jobId": "j", "status": status, "message": "", "itemCount": items,
                "itemCountFinal": true, "itemProgress": 0, "percent": 0, "counts": counts }))?)
        };
        let counts = json!({ "succeeded": 1_234, "failed": 2, "skipped": 0 });
        assert_eq!(summary(&job(counts, 1_236, "completed")?), "completed: 1,234 items succeeded, 2 failed");
        let counts = json!({ "succeeded": 0, "failed": 0, "skipped": 1 });
        let line = summary(&job(counts, 4, "canceled")?);
        assert_eq!(line, "canceled: 0 items succeeded, 1 were skipped, 3 were not processed");
        Ok(())
    }
}
