//! One job, from its upload to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;
use uuid::Uuid;

use super::content::JobFile;
use super::files::preparation;
use super::mix::JobSpec;
use super::outcome::{JobVerdict, check_counts, end, number};
use super::run::Run;
use crate::api::{Api, Transient, is_final, is_transient, refusal};

/// Interval between two polls before the first progress.
const FIRST_POLL: Duration = Duration::from_millis(500);

/// Interval between two polls after it, if the API asks for none.
const POLL: Duration = Duration::from_secs(1);

/// Number of times that a call is tried, as a client does.
const TRIES: u32 = 5;

/// Delay before the second try if the API asks for none; doubled for each further one.
const BACK_OFF: Duration = Duration::from_secs(1);

/// Time for which polls may fail.
const OUTAGE: Duration = Duration::from_secs(300);

/// Delay of a start that counts as late.
const LATE: Duration = Duration::from_millis(100);

/// A job that is over, whether it has ended or not.
pub(super) struct Sample {
    pub(super) measured: Measured,
    pub(super) outcome: JobVerdict,
    /// True if the job did not start at its time.
    pub(super) is_late: bool,
}

/// Measurements of a job.
#[derive(Default)]
pub(super) struct Measured {
    /// Number of rows that have ended.
    pub(super) rows: u64,
    /// Time until the API has accepted the job, and those until the first progress and the end.
    pub(super) accepted: Option<Duration>,
    pub(super) first_progress: Option<Duration>,
    pub(super) end: Option<Duration>,
    /// Kinds of the calls that were refused, each as often as it was.
    pub(super) refusals: Vec<String>,
}

/// A job of a run.
pub(super) struct Job<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) number: u64,
    /// The tenant, by its number.
    pub(super) tenant: usize,
    pub(super) spec: &'a JobSpec,
}

impl Job<'_> {
    /// Runs the job. `time` is its time from the start of the run.
    pub(super) fn run(&self, time: Duration) -> Sample {
        let mut measured = Measured::default();
        let (outcome, is_late) = self.measure(time, &mut measured);
        let outcome = outcome.unwrap_or_else(|error| JobVerdict::Refused(format!("{error:#}")));
        Sample { measured, outcome, is_late }
    }

    fn measure(&self, time: Duration, measured: &mut Measured) -> (Result<JobVerdict>, bool) {
        // Written before its time, so that the latency has no part of it.
        let file = match self.file(time) {
            Ok(Some(file)) => file,
            Ok(None) => return (Ok(JobVerdict::Interrupted), false),
            Err(error) => return (Err(error), false),
        };
        if !self.run.sleep_until(time, Duration::ZERO) {
            return (Ok(JobVerdict::Interrupted), false);
        }
        let begin = self.run.begin(time);
        let is_late = begin.elapsed() > LATE;
        (self.create_and_follow(file, begin, measured), is_late)
    }

    /// Returns the file of the job, shortly before its time; `None` if the run is stopped.
    fn file(&self, time: Duration) -> Result<Option<Arc<JobFile>>> {
        if !self.run.sleep_until(time, preparation(self.spec.rows)) {
            return Ok(None);
        }
        self.run.files.file_of(self.number, self.spec)
    }

    fn create_and_follow(&self, file: Arc<JobFile>, begin: Instant, measured: &mut Measured) -> Result<JobVerdict> {
        let api = &self.run.tenants[self.tenant].api;
        let Some(upload) = self.attempt(&mut measured.refusals, || api.upload(&file.file))? else {
            return Ok(JobVerdict::Interrupted);
        };
        let expected = file.expected;
        // Its space is free from now on.
        drop(file);
        let request = self.run.workload.request(self.spec, &upload)?;
        let key = Uuid::new_v4().to_string();
        let Some(url) = self.attempt(&mut measured.refusals, || api.create_once(&request, &key))? else {
            return Ok(JobVerdict::Interrupted);
        };
        measured.accepted = Some(begin.elapsed());
        let id = url.rsplit('/').next().unwrap_or(&url);
        self.run.created(self.tenant, id)?;
        let Some(document) = self.follow(api, &url, begin, measured)? else { return Ok(JobVerdict::Interrupted) };
        self.run.ended(self.tenant, id)?;
        measured.rows = number(&document["itemProgress"]);
        measured.end = Some(end(&document, measured.accepted.unwrap_or_default(), begin.elapsed()));
        Ok(check_counts(&document, expected))
    }

    /// Tries a call until it succeeds, is refused for good, or was tried often enough. Returns `None` if the run is
    /// stopped.
    fn attempt<T>(&self, refusals: &mut Vec<String>, call: impl Fn() -> Result<T>) -> Result<Option<T>> {
        let mut retry = 0;
        loop {
            let error = match call() {
                Ok(result) => return Ok(Some(result)),
                Err(error) => error,
            };
            refusals.push(kind(&error));
            retry += 1;
            if retry == TRIES || !is_transient(&error) {
                return Err(error);
            }
            let delay = refusal(&error).and_then(|refused| refused.retry_after);
            if !self.run.sleep(delay.unwrap_or(BACK_OFF * 2_u32.pow(retry - 1))) {
                return Ok(None);
            }
        }
    }

    /// Polls the job until it has ended. Returns its document; `None` if the run is stopped.
    fn follow(&self, api: &Api, url: &str, begin: Instant, measured: &mut Measured) -> Result<Option<Value>> {
        let (mut failing_since, mut delay) = (None, FIRST_POLL);
        while self.run.sleep(delay) {
            match poll(api, url) {
                Ok((document, asked)) => {
                    failing_since = None;
                    let has_ended = document["status"].as_str().is_some_and(is_final);
                    if measured.first_progress.is_none() && (has_ended || number(&document["itemProgress"]) > 0) {
                        measured.first_progress = Some(begin.elapsed());
                    }
                    if has_ended {
                        return Ok(Some(document));
                    }
                    let is_started = measured.first_progress.is_some();
                    delay = if is_started { asked.unwrap_or(POLL) } else { FIRST_POLL };
                }
                Err(error) => {
                    measured.refusals.push(kind(&error));
                    let since = *failing_since.get_or_insert_with(Instant::now);
                    if !is_transient(&error) || since.elapsed() > OUTAGE {
                        return Err(error);
                    }
                    delay = refusal(&error).and_then(|refused| refused.retry_after).unwrap_or(POLL);
                }
            }
        }
        Ok(None)
    }
}

/// Reads the job, and the delay that the API asks for.
fn poll(api: &Api, url: &str) -> Result<(Value, Option<Duration>)> {
    let action = "reading the job";
    let answer = api.send("GET", url, &[], None)?;
    let delay = answer.retry_after();
    Ok((answer.success(action)?.json(action)?, delay))
}

/// Returns the kind of a failed call.
fn kind(error: &anyhow::Error) -> String {
    match refusal(error) {
        Some(refused) => refused.kind.clone(),
        None if error.is::<Transient>() => "no-answer".to_owned(),
        None => "error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_has_a_kind() {
        let lost: anyhow::Error = Transient("lost".to_owned()).into();
        assert_eq!(kind(&lost), "no-answer");
        assert_eq!(kind(&anyhow::anyhow!("no disk")), "error");
    }
}
