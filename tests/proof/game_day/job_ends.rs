//! The ends of jobs: the counts, rows, records, outputs and events of each are compared with the expected ones.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use super::load::{CALL_PAUSE, ITEMS, Load, Started, Work, output};
use super::operator::Operator;
use crate::sample::compare;

/// Maximum time until the end of a job after the action, and until its event is received.
const END_TIMEOUT: Duration = Duration::from_secs(150);

/// Number of jobs and of rows that were compared.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Compared {
    pub(super) jobs: usize,
    pub(super) rows: u64,
}

impl Load<'_> {
    /// Waits until every job that was started has a final status.
    pub(super) fn await_ends(&self) -> Result<()> {
        self.started().iter().try_for_each(|job| self.end(job).map(drop))
    }

    fn end(&self, job: &Started) -> Result<Value> {
        let watch = Watch::new(self.stack, &job.id).with_client(&self.patient(job.tenant)).patient(END_TIMEOUT);
        { watch }.end().with_context(|| format!("job {}", job.id))
    }

    /// Compares every job that was started with its expected end, and waits for its event.
    pub(super) fn compare_all(&self) -> Result<(Compared, Vec<String>)> {
        let jobs = std::mem::take(&mut *self.started());
        let (mut compared, mut violations) = (Compared::default(), Vec::new());
        for job in &jobs {
            let document = self.end(job)?;
            let client = self.patient(job.tenant);
            let (rows, differences) = match &job.work {
                Work::Import(sample) => (sample.rows, sample.differences(&client, &document)?),
                Work::Items => (ITEMS, differences_of_items(&client, &job.id, &document)?),
            };
            compared.jobs += 1;
            compared.rows += rows;
            violations.extend(differences);
        }
        let expected: BTreeSet<_> = jobs.into_iter().map(|job| job.id).collect();
        let deadline = Instant::now() + END_TIMEOUT;
        loop {
            let missing: Vec<_> = expected.difference(&self.receiver.received()?).cloned().collect();
            if missing.is_empty() {
                return Ok((compared, violations));
            }
            ensure!(Instant::now() < deadline, "the ends of {missing:?} are not received\n{}", self.stack.log_tail(40));
            thread::sleep(CALL_PAUSE);
        }
    }

    /// Returns true if no webhook fails, and every event of a job has the status `delivered`.
    pub(super) fn are_delivered(&self, operator: &Operator<'_>) -> Result<bool> {
        for tenant in &self.tenants {
            let list = format!("longshore webhooks deliveries {} --json", tenant.webhook.id());
            let list: Value = serde_json::from_str(&operator.run_as(&tenant.token, &list)?)?;
            let deliveries = list["deliveries"].as_array().context("the list has no deliveries")?;
            let mut of_jobs = deliveries.iter().filter(|delivery| delivery["event"]["type"] == "job.completed");
            let is_delivered = of_jobs.all(|delivery| delivery["status"] == "delivered");
            if !is_delivered || tenant.webhook.is_failing(&tenant.client)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn differences_of_items(client: &Client, id: &str, job: &Value) -> Result<Vec<String>> {
    let counts = json!({ "succeeded": ITEMS, "failed": 0, "skipped": 0, "pending": 0 });
    if job["status"] != "completed" || job["counts"] != counts {
        return Ok(vec![format!("job {id}: {} {}, not {counts}", job["status"], job["counts"])]);
    }
    let text = String::from_utf8(client.output(id, "results.jsonl")?)?;
    let lines = text.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
    let results = lines.iter().map(|line| (line["number"].as_u64().unwrap_or_default(), line["output"].clone()));
    let expected: BTreeMap<_, _> = (1..=ITEMS).map(|number| (number, output(number))).collect();
    let mut differences = compare("output", &expected, &results.collect());
    if lines.len() != expected.len() {
        differences.push(format!("{} outputs, not {}", lines.len(), expected.len()));
    }
    Ok(differences.into_iter().map(|difference| format!("job {id}: {difference}")).collect())
}
