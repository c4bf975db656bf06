//! Waiting for the end of a job: a bar with its progress on standard error, through answers that fail for a while.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Deserialize;
use serde_json::Value;

use crate::api::{Answer, Api, Job, NoAnswer};
use crate::exit::{Exit, Failure};
use crate::progress::style;

/// Shortest delay between two polls, even if the API asks for less.
const MIN_POLL: Duration = Duration::from_millis(100);

/// Delay before the next poll if the API asks for none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// Longest delay between two polls that fail.
const MAX_BACK_OFF: Duration = Duration::from_secs(20);

/// Time for which polls may fail.
const OUTAGE: Duration = Duration::from_secs(300);

/// A job that has ended.
pub struct Ended {
    /// The job.
    pub job: Job,
    /// The whole document.
    pub document: Value,
}

/// What is waited for.
pub struct Watch<'a> {
    /// The API.
    pub api: &'a Api,
    /// URL or path of the job.
    pub url: &'a str,
    /// Time after which the command ends without an end of the job.
    pub timeout: Option<Duration>,
    /// What the items are called.
    pub noun: &'static str,
}

impl Watch<'_> {
    /// Waits for the end of the job. Passes each document to `observe`.
    ///
    /// # Errors
    /// If the time is over, the API refuses a call or does not answer for five minutes, or `observe` fails.
    pub fn until_end(&self, observe: &mut dyn FnMut(&Job) -> Result<()>) -> Result<Ended> {
        let bar = ProgressBar::no_length();
        bar.set_style(style(&format!("  {{bar:32}} {{pos}} of {{len}} {}  {{msg}}", self.noun)).progress_chars("█▌░"));
        let (start, mut failing_since, mut failures) = (Instant::now(), None, 0);
        let mut printed = String::new();
        loop {
            let delay = match self.poll()? {
                Poll::Found { document, delay } => {
                    (failing_since, failures) = (None, 0);
                    let job = Job::deserialize(&document).context("the job is not the expected JSON")?;
                    observe(&job)?;
                    show(&bar, &job, &mut printed);
                    if job.has_ended() {
                        bar.finish_and_clear();
                        return Ok(Ended { job, document });
                    }
                    delay
                }
                Poll::Failed { error, delay } => {
                    let since = failing_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > OUTAGE {
                        return Err(error);
                    }
                    failures += 1;
                    delay.unwrap_or_else(|| MAX_BACK_OFF.min(Duration::from_millis(500) * 2_u32.pow(failures.min(6))))
                }
            };
            if let Some(timeout) = self.timeout
                && start.elapsed() + delay > timeout
            {
                let seconds = timeout.as_secs();
                return Err(Failure::new(
                    Exit::TimedOut,
                    format!("the job has not ended within {seconds} s; it goes on"),
                )
                .into());
            }
            sleep(delay.max(MIN_POLL));
        }
    }

    fn poll(&self) -> Result<Poll> {
        let action = "reading the job";
        match self.api.send("GET", self.url, &[], None) {
            Ok(answer) if answer.is_transient() => {
                let delay = answer.retry_after();
                Ok(Poll::Failed {
                    error: answer.success(action).map(drop).err().unwrap_or_else(|| anyhow::anyhow!(action)),
                    delay,
                })
            }
            Ok(answer) => {
                let answer: Answer = answer.success(action)?;
                let delay = answer.retry_after().unwrap_or(DEFAULT_POLL);
                Ok(Poll::Found { document: answer.json(action)?, delay })
            }
            Err(error) if error.is::<NoAnswer>() => Ok(Poll::Failed { error, delay: None }),
            Err(error) => Err(error),
        }
    }
}

enum Poll {
    Found { document: Value, delay: Duration },
    Failed { error: anyhow::Error, delay: Option<Duration> },
}

/// Prints the job's messages as lines, and the progress of "Job running" as a bar. Without a terminal there is no bar,
/// and every change is a line.
fn show(bar: &ProgressBar, job: &Job, printed: &mut String) {
    // A bar of length 0 would look full.
    if job.item_count > 0 {
        bar.set_length(job.item_count);
    }
    bar.set_position(job.item_progress);
    let eta = job.eta_seconds.map_or_else(String::new, |s| format!("{s:.0} s left"));
    bar.set_message(eta);
    let line = if bar.is_hidden() { job.message.clone() } else { without_digits(&job.message) };
    if *printed != line {
        bar.suspend(|| eprintln!("  {}", job.message));
        *printed = line;
    }
}

fn without_digits(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}
