//! Waiting for the end of a job: a bar with its progress on standard error, through answers that fail for a while.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use serde::Deserialize;
use serde_json::Value;

use crate::api::{Api, Fault, Job, Transient};
use crate::output::exit::{CommandError, Exit};
use crate::output::printable;
use crate::output::progress::{Shown, style};

/// Shortest delay between two polls, even if the API asks for less.
const MIN_POLL: Duration = Duration::from_millis(100);

/// Delay before the next poll if the API asks for none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// Longest delay between two polls that fail.
const MAX_BACK_OFF: Duration = Duration::from_secs(20);

/// Time for which polls may fail.
const OUTAGE: Duration = Duration::from_secs(300);

/// Shortest time limit of a poll, so that a timeout of 0 seconds asks once.
const MIN_REQUEST: Duration = Duration::from_secs(5);

/// A job that has ended.
pub struct EndedJob {
    /// The job.
    pub job: Job,
    /// The whole document.
    pub document: Value,
}

/// Parameters of a wait.
pub struct Watch<'a> {
    /// The API.
    pub api: &'a Api,
    /// URL or path of the job.
    pub url: &'a str,
    /// Time after which the command ends without an end of the job.
    pub timeout: Option<Duration>,
}

/// Polls that have failed, one after the other.
struct Outage {
    since: Instant,
    polls: u32,
    last: anyhow::Error,
}

impl Watch<'_> {
    /// Waits for the end of the job. Passes each document to `observe`.
    ///
    /// # Errors
    /// If the time is over, the API refuses a call or does not answer for five minutes, or `observe` fails.
    pub fn until_end(&self, observe: &mut dyn FnMut(&Job) -> Result<()>) -> Result<EndedJob> {
        let bar = ProgressBar::no_length();
        bar.set_style(style("  {bar:32} {pos} of {len} items  {msg}").progress_chars("█▌░"));
        let _shown = Shown::new(&bar);
        let (start, mut outage, mut printed) = (Instant::now(), None, String::new());
        loop {
            let delay = match self.poll(start)? {
                Poll::Found { document, delay } => {
                    outage = None;
                    let job = Job::deserialize(&document).context("the job is not the expected JSON")?;
                    observe(&job)?;
                    show(&bar, &job, &mut printed);
                    if job.has_ended() {
                        bar.finish_and_clear();
                        return Ok(EndedJob { job, document });
                    }
                    delay
                }
                Poll::Failed { error, delay } => {
                    let failed = Outage::after(outage.take(), error)?;
                    let delay = delay.unwrap_or_else(|| failed.back_off());
                    outage = Some(failed);
                    delay
                }
            };
            let delay = self.within_timeout(start, delay.max(MIN_POLL), outage.as_ref())?;
            if let Some(outage) = &outage {
                self.api.announce_wait(&Fault::of_error(&outage.last), delay);
            }
            sleep(delay);
        }
    }

    /// Returns the delay, or what is left of the timeout.
    ///
    /// # Errors
    /// If nothing is left: with the last failure, if it is not known what the job does.
    fn within_timeout(&self, start: Instant, delay: Duration, outage: Option<&Outage>) -> Result<Duration> {
        let Some(timeout) = self.timeout else { return Ok(delay) };
        let left = timeout.saturating_sub(start.elapsed());
        if left > Duration::ZERO {
            return Ok(delay.min(left));
        }
        let (id, seconds) = (self.url.rsplit('/').next().unwrap_or(self.url), timeout.as_secs());
        let reason = match outage {
            None => {
                format!(
                    "the job has not ended within {seconds} s, and goes on: `longshore jobs watch {id}` waits for it"
                )
            }
            Some(Outage { last, .. }) => format!(
                "{seconds} s are over, and it is not known whether the job has ended: {last:#}; `longshore jobs watch \
                 {id}` waits for it"
            ),
        };
        Err(CommandError::new(Exit::TimedOut, reason).into())
    }

    /// Reads the job. A call ends with the timeout.
    fn poll(&self, start: Instant) -> Result<Poll> {
        let action = "reading the job";
        let end = self.timeout.and_then(|timeout| start.checked_add(timeout));
        let until = end.map(|end| end.max(Instant::now() + MIN_REQUEST));
        let read = || {
            let answer = self.api.read_until(self.url, until)?;
            let delay = answer.retry_after();
            if answer.is_transient() {
                return Ok(Poll::Failed {
                    error: answer.success(action).err().unwrap_or_else(|| anyhow!(action)),
                    delay,
                });
            }
            let document = answer.success(action)?.json(action)?;
            Ok(Poll::Found { document, delay: delay.unwrap_or(DEFAULT_POLL) })
        };
        read().or_else(|error: anyhow::Error| match error.is::<Transient>() {
            true => Ok(Poll::Failed { error, delay: None }),
            false => Err(error),
        })
    }
}

impl Outage {
    /// Returns the outage after another poll has failed.
    ///
    /// # Errors
    /// With this failure, if polls fail for too long.
    fn after(earlier: Option<Self>, error: anyhow::Error) -> Result<Self> {
        let (since, polls) = earlier.map_or_else(|| (Instant::now(), 0), |earlier| (earlier.since, earlier.polls));
        if since.elapsed() > OUTAGE {
            return Err(error);
        }
        Ok(Self { since, polls: polls + 1, last: error })
    }

    fn back_off(&self) -> Duration {
        MAX_BACK_OFF.min(Duration::from_millis(500) * 2_u32.pow(self.polls.min(6)))
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
        bar.suspend(|| eprintln!("  {}", printable(&job.message)));
        *printed = line;
    }
}

fn without_digits(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}
