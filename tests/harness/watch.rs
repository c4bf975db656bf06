//! Observation of a job by frequent polling, with a check of every response.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::Value;

use super::client::Client;
use super::stack::Stack;

/// Interval between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval between two runs of the sweeper, if a test requests them. The sweeper's own schedule is a minute.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time for any step: more than two visibility timeouts on a busy machine.
const PATIENCE: Duration = Duration::from_secs(150);

/// One job under observation.
pub struct Watch<'a> {
    stack: &'a Stack,
    client: Client,
    id: String,
    sweeps: bool,
    patience: Duration,
    last: Value,
    /// Distinct values of `itemProgress`, in order.
    pub steps: Vec<u64>,
}

impl<'a> Watch<'a> {
    /// Watches a job.
    pub fn new(stack: &'a Stack, id: &str) -> Self {
        let (client, id) = (stack.client.clone(), id.to_owned());
        Self { stack, client, id, sweeps: false, patience: PATIENCE, last: Value::Null, steps: Vec::new() }
    }

    /// Uses this client, whose user can differ from the stack's own.
    #[must_use]
    pub fn with_client(self, client: &Client) -> Self {
        Self { client: client.clone(), ..self }
    }

    /// Runs the sweeper during the observation.
    #[must_use]
    pub fn sweeping(self) -> Self {
        Self { sweeps: true, ..self }
    }

    /// Sets the maximum time for each step.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Polls until the document satisfies a condition.
    ///
    /// # Errors
    /// If a response violates an invariant, or the condition is not met in time.
    pub fn until(&mut self, description: &str, is_met: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = Instant::now() + self.patience;
        let mut swept = Instant::now();
        loop {
            let job = self.poll()?;
            if is_met(&job) {
                return Ok(job);
            }
            if Instant::now() > deadline {
                bail!("the job is not {description} in time: {}\n{}", self.last, self.stack.log_tail(120));
            }
            if self.sweeps && swept.elapsed() > SWEEP_INTERVAL {
                self.stack.sweep()?;
                swept = Instant::now();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Polls until the status is final, and once more: the document must not change.
    ///
    /// # Errors
    /// If a response violates an invariant, or the job does not end in time.
    pub fn end(&mut self) -> Result<Value> {
        let job = self.until("final", |job| is_final(&job["status"]))?;
        let again = self.client.job(&self.id)?;
        ensure!(again == job, "a final document has changed from {job}\nto {again}");
        Ok(job)
    }

    /// Polls once.
    ///
    /// # Errors
    /// If the response violates an invariant.
    pub fn poll(&mut self) -> Result<Value> {
        let job = self.client.job(&self.id)?;
        self.check(&job)?;
        self.last = job;
        Ok(self.last.clone())
    }

    fn check(&mut self, job: &Value) -> Result<()> {
        let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
        let counts = &job["counts"];
        let [progress, count] = ["itemProgress", "itemCount"].map(|name| number(&job[name]));
        let [succeeded, failed, skipped] = ["succeeded", "failed", "skipped"].map(|name| number(&counts[name]));
        let pending = counts["pending"].as_u64();
        ensure!(
            succeeded.saturating_add(failed).saturating_add(skipped) == progress,
            "the counts do not add up to the progress: {job}"
        );
        ensure!(progress <= count, "more progress than items: {job}");
        ensure!(
            pending.is_none_or(|pending| pending == count - progress),
            "pending is not itemCount minus itemProgress: {job}"
        );
        ensure!(number(&job["percent"]) <= 100, "more than 100 percent: {job}");
        let before = &self.last;
        if !before.is_null() {
            let has_not_decreased = |name: &str| number(&before[name]) <= number(&job[name]);
            let is_monotonic = ["itemProgress", "percent", "itemCount"].into_iter().all(has_not_decreased);
            ensure!(is_monotonic, "the progress has decreased from {before}\nto {job}");
            let is_final_count = before["itemCountFinal"] == true;
            ensure!(
                !is_final_count || before["itemCount"] == job["itemCount"],
                "the final count has changed from {before}\nto {job}"
            );
            ensure!(
                rank(&before["status"]) <= rank(&job["status"]),
                "the status has gone back from {before}\nto {job}"
            );
        }
        if job["status"] == "completed" {
            ensure!(
                progress == count && number(&job["percent"]) == 100,
                "completed, but not all items are done: {job}"
            );
        }
        if self.steps.last() != Some(&progress) {
            self.steps.push(progress);
        }
        Ok(())
    }
}

/// Returns true if a status is final.
pub fn is_final(status: &Value) -> bool {
    rank(status) == 2
}

fn rank(status: &Value) -> u8 {
    match status.as_str() {
        Some("waiting") => 0,
        Some("running") => 1,
        _ => 2,
    }
}
