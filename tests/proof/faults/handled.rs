//! Jobs of registered types, and the comparison of their outcomes with what their handlers have recorded.
//!
//! | check | because |
//! | --- | --- |
//! | counts, failed and skipped rows, results | they are what the handler said |
//! | each batch was received once | a call is never repeated by a client |
//! | each item was processed once, once more for each answer `retry`, and once more at most for each fault that permits it | the contract says when an item is sent again |

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::watch::{Report, Watch, csv_rows};
use serde_json::{Value, json};

use super::effects::{Effects, ITEMS, Processed, action, key};
use super::handlers::Handlers;
use super::jobs::{END_PATIENCE, Outcome, patient};
use crate::sample::compare;

/// Handler and source of a job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Target {
    /// A Lambda function processes a file.
    Function,
    /// An HTTPS endpoint processes a file.
    Endpoint,
    /// A Lambda function processes a dataset.
    Dataset,
}

impl Target {
    pub(super) const ALL: [Self; 3] = [Self::Function, Self::Endpoint, Self::Dataset];

    /// Name of the job type.
    pub(super) fn job_type(self) -> &'static str {
        match self {
            Self::Function => "effects-function",
            Self::Endpoint => "effects-endpoint",
            Self::Dataset => "effects-dataset",
        }
    }
}

/// The items of a job as a CSV file.
pub(super) fn file() -> Vec<u8> {
    let rows = (1..=ITEMS).map(|number| format!("{},{}\n", key(number), action(number)));
    format!("id,action\n{}", rows.collect::<String>()).into_bytes()
}

/// A started job.
pub(super) struct Handled<'a> {
    handlers: &'a Handlers,
    client: Client,
    pub(super) id: String,
    target: Target,
    effects: PathBuf,
}

impl<'a> Handled<'a> {
    /// Starts a job.
    pub(super) fn start(handlers: &'a Handlers, target: Target) -> Result<Self> {
        let (client, effects) = (patient(&handlers.stack), handlers.effects()?);
        let options = json!({ "effects": effects });
        let id = match target {
            Target::Function | Target::Endpoint => client.start_once(target.job_type(), &file(), &options)?,
            Target::Dataset => {
                let source = json!({ "dataset": handlers.dataset });
                create(&client, &json!({ "jobType": target.job_type(), "source": source, "options": options }))?
            }
        };
        Ok(Self { handlers, client, id, target, effects })
    }

    /// Waits for the end. Returns the document.
    pub(super) fn end(&self) -> Result<Value> {
        let watch = Watch::new(&self.handlers.stack, &self.id).with_client(&self.client).patient(END_PATIENCE);
        { watch }.end().with_context(|| format!("job {}", self.id))
    }

    /// The differences of an ended job from what the handler said.
    pub(super) fn differences(&self, job: &Value, processed: Processed) -> Result<Vec<String>> {
        let mut differences = self.of_job(job)?;
        differences.extend(Effects::read(&self.effects)?.differences(processed));
        let name = self.target.job_type();
        Ok(differences.into_iter().map(|difference| format!("job {} of {name}: {difference}", self.id)).collect())
    }

    /// The differences of the job's document, report and results.
    fn of_job(&self, job: &Value) -> Result<Vec<String>> {
        let with = |wanted: &str| (1..=ITEMS).filter(|number| action(*number) == wanted).collect::<BTreeSet<_>>();
        let (failed, skipped) = (with("reject"), with("skip"));
        let [failures, skips] = [failed.len() as u64, skipped.len() as u64];
        let counts =
            json!({ "succeeded": ITEMS - failures - skips, "failed": failures, "skipped": skips, "pending": 0 });
        let mut differences = Vec::new();
        if job["status"] != "completed" || job["counts"] != counts {
            differences.push(format!("{} {}, not {counts}", job["status"], job["counts"]));
        }
        let report = Report::read(&self.client, &self.id)?;
        let codes = failed.iter().map(|number| (*number, "bad_row".to_owned())).collect();
        differences.extend(compare("failed item", &codes, &report.codes()));
        let found: BTreeSet<_> = report.skipped.iter().map(|row| row.number).collect();
        if found != skipped {
            differences.push(format!("skipped items: {found:?}, not {skipped:?}"));
        }
        if self.target != Target::Dataset
            && let Err(error) = report.partitions(&csv_rows(&file())?)
        {
            differences.push(format!("report: {error:#}"));
        }
        differences.extend(self.of_results(&(&failed | &skipped))?);
        Ok(differences)
    }

    fn of_results(&self, others: &BTreeSet<u64>) -> Result<Vec<String>> {
        let text = String::from_utf8(self.client.output(&self.id, "results.jsonl")?)?;
        let rows: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        let rows = rows?;
        let outputs = rows.iter().map(|row| (row["number"].as_u64().unwrap_or_default(), row["output"].clone()));
        let expected = (1..=ITEMS).filter(|number| !others.contains(number));
        let expected: BTreeMap<_, _> = expected.map(|number| (number, json!({ "id": key(number) }))).collect();
        let mut differences = compare("result", &expected, &outputs.collect());
        if rows.len() != expected.len() {
            differences.push(format!("{} results, not {}", rows.len(), expected.len()));
        }
        Ok(differences)
    }

    /// Number of calls that the handler has received.
    pub(super) fn calls(&self) -> Result<usize> {
        Ok(Effects::read(&self.effects)?.batches.len())
    }
}

/// Creates a job once, although calls fail.
pub(super) fn create(client: &Client, request: &Value) -> Result<String> {
    let mark = nonce();
    let headers = [("content-type", "application/json"), ("idempotency-key", mark.as_str())];
    let job = client.call("POST", "/api/jobs", &headers, request.to_string().as_bytes())?.expect(202)?;
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

/// Runs jobs with these targets concurrently. `processed` is called when a job has ended.
pub(super) fn run_all(
    handlers: &Handlers,
    targets: &[Target],
    processed: impl Fn(Target) -> Result<Processed> + Sync,
) -> Outcome {
    let run = |target| {
        let job = Handled::start(handlers, target)?;
        let document = job.end()?;
        job.differences(&document, processed(target)?)
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = targets.iter().map(|target| scope.spawn(|| run(*target))).collect();
        let mut outcome = Outcome::default();
        for job in jobs {
            let job = job.join().unwrap_or_else(|_| anyhow::bail!("a job's thread has panicked"));
            outcome.add(Outcome::of(ITEMS, job));
        }
        outcome
    })
}
