//! Faults in the calls of jobs over a dataset and over other jobs. A chain imports over existing records, undoes that
//! import, exports the dataset, imports the export's results into a copy, and deletes the copy. After each job, the
//! records equal the expected ones.
//!
//! The first import of the dataset has no faults, so that all faults occur in the jobs behind it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use super::jobs::{END_PATIENCE, Outcome, faulty, own, patient, record_outcome, sweeping};
use super::kinds::{KINDS, Kind};
use super::losses::{INTERVAL_MS, Kills, VICTIMS, kill_some, seed};
use super::operations::{OPERATIONS, Operation};
use crate::sample::compare;

/// Number of records of the dataset.
const RECORDS: u64 = 600;

/// Number of items of all jobs of a chain with faults: import, undo, export, import of the copy, and deletion.
const ITEMS: u64 = 5 * RECORDS;

/// The operations in which faults are injected.
const NAMES: [&str; 8] = [
    "BatchExecuteStatement",
    "BatchGetItem",
    "GetObject",
    "PutObject",
    "Query",
    "SendMessageBatch",
    "TransactWriteItems",
    "UpdateItem",
];

/// Maximum time until an undo is accepted, with faults in each request.
const PATIENCE: Duration = Duration::from_secs(120);

/// The records of a dataset: their data, by key.
type Records = BTreeMap<String, Value>;

#[test]
fn with_faults_in_every_operation_datasets_are_undone_exported_copied_and_deleted() {
    let Some(stack) = faulty() else { return };
    let operations: Vec<_> = OPERATIONS.into_iter().filter(|operation| NAMES.contains(&operation.name)).collect();
    assert_eq!(operations.len(), NAMES.len());
    let mut outcome = Outcome::default();
    let mut waves = 0;
    for first in 0..if measurements::is_complete_run() { KINDS.len() } else { 1 } {
        let kinds = KINDS.into_iter().cycle().skip(first);
        outcome.add(Outcome::of(ITEMS, with_faults(&stack, operations.iter().copied().zip(kinds).collect())));
        waves += 1;
    }
    let command = "cargo test -p longshore-tests --test proof undone_exported_copied_and_deleted";
    record_outcome("waves of faults in jobs over datasets and jobs", &waves, &outcome, command);
}

#[test]
fn datasets_are_undone_exported_copied_and_deleted_while_functions_are_killed() {
    // The stack with fault injection runs one test at a time.
    let Some(stack) = own(&[]) else { return };
    let (seed, over) = (seed(), AtomicBool::new(false));
    let max = if measurements::is_complete_run() { 60 } else { 12 };
    let (outcome, killed) = thread::scope(|scope| {
        let chain = || {
            let first = import_first(&stack)?;
            let killing = scope
                .spawn(|| kill_some(&stack, &over, Kills { seed, max, interval_ms: INTERVAL_MS, victims: &VICTIMS }));
            let differences = run(&stack, &first);
            over.store(true, Ordering::Relaxed);
            Ok((differences?, killing.join().expect("the kills have panicked")?))
        };
        let (differences, killed) = chain().unwrap_or_else(|error: anyhow::Error| panic!("seed {seed}: {error:?}"));
        (Outcome::of(ITEMS, Ok(differences)), killed)
    });
    let command = format!("LONGSHORE_SEED={seed} cargo test -p longshore-tests --test proof functions_are_killed");
    record_outcome("processes killed in jobs over datasets and jobs", &killed, &outcome, &command);
}

/// Runs a chain with these faults. Returns its differences, and the faults that never occurred.
fn with_faults(stack: &Stack, injections: Vec<(Operation, Kind)>) -> Result<Vec<String>> {
    let faults = stack.faults()?;
    faults.set(&[])?;
    let first = import_first(stack)?;
    let rules: Result<Vec<_>> = injections.iter().map(|(operation, kind)| faults.add(&kind.rule(*operation))).collect();
    let rules = rules?;
    let mut differences = run(stack, &first)?;
    let fired: Result<Vec<_>> = rules.iter().map(Rule::fired).collect();
    for ((operation, kind), fired) in injections.iter().zip(fired?) {
        if fired == 0 {
            differences.push(format!("{}: the fault {:?} never occurred", operation.name, kind.name()));
        }
    }
    faults.set(&[])?;
    Ok(differences)
}

/// The dataset of a chain, with its records before the faults.
struct First {
    dataset: String,
    records: Records,
}

fn import_first(stack: &Stack) -> Result<First> {
    let dataset = format!("chain-{}", nonce());
    let chain = Chain { stack, client: patient(stack), differences: Vec::new() };
    chain.import(&dataset, 1..=RECORDS, "first")?;
    let records = chain.records(&dataset)?;
    let expected = (1..=RECORDS).map(|number| record(number, "first")).collect();
    ensure!(records == expected, "{} records are not those of the file", records.len());
    Ok(First { dataset, records })
}

/// Runs the jobs of a chain. Returns the differences from the expected records and results.
fn run(stack: &Stack, first: &First) -> Result<Vec<String>> {
    let mut chain = Chain { stack, client: patient(stack), differences: Vec::new() };
    sweeping(stack, || chain.run(first))?;
    Ok(chain.differences)
}

fn record(number: u64, value: &str) -> (String, Value) {
    let id = format!("k{number:05}");
    (id.clone(), json!({ "id": id, "value": value }))
}

/// The jobs of a chain, one after the other.
struct Chain<'a> {
    stack: &'a Stack,
    client: Client,
    differences: Vec<String>,
}

impl Chain<'_> {
    fn run(&mut self, first: &First) -> Result<()> {
        let (dataset, copy) = (&first.dataset, format!("copy-{}", nonce()));
        let second = RECORDS / 2 + 1..=RECORDS / 2 + RECORDS;
        let mut both = first.records.clone();
        both.extend(second.clone().map(|number| record(number, "second")));
        let import = self.import(dataset, second, "second")?;
        self.compare("the second import", &both, &self.records(dataset)?);

        self.undo(&import)?;
        self.compare("the undo", &first.records, &self.records(dataset)?);

        let export = self.create(&json!({ "jobType": "export", "source": { "dataset": dataset } }))?;
        let results = String::from_utf8(self.client.output(&export, "results.jsonl")?)?;
        let rows: Result<Vec<Value>, _> = results.lines().map(serde_json::from_str).collect();
        let rows = rows?;
        self.compare("the export", &first.records, &by_id(&rows));
        if rows.len() as u64 != RECORDS {
            self.differences.push(format!("the export has {} rows, not {RECORDS}", rows.len()));
        }

        let source = json!({ "jobId": export, "part": "results" });
        let options = json!({ "dataset": copy, "key": "id" });
        self.create(&json!({ "jobType": "import", "source": source, "options": options }))?;
        self.compare("the copy", &first.records, &self.records(&copy)?);

        self.delete(&copy)?;
        self.compare("the deletion", &Records::new(), &self.records(&copy)?);
        self.compare("the end", &first.records, &self.records(dataset)?);
        Ok(())
    }

    /// Imports a file with a row for each number. Returns the job's id.
    fn import(&self, dataset: &str, numbers: RangeInclusive<u64>, value: &str) -> Result<String> {
        let rows = numbers.map(|number| format!("k{number:05},{value}\n"));
        let file = format!("id,value\n{}", rows.collect::<String>());
        let id = self.client.start_once("import", file.as_bytes(), &json!({ "dataset": dataset, "key": "id" }))?;
        self.end(&id)
    }

    /// Creates a job, and waits for its end.
    fn create(&self, request: &Value) -> Result<String> {
        let (key, body) = (nonce(), request.to_string());
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        let job = self.client.call("POST", "/api/jobs", &headers, body.as_bytes())?.expect(202)?;
        self.end(job["jobId"].as_str().context("the job has no id")?)
    }

    /// Waits until all items have succeeded. Returns the job's id.
    fn end(&self, id: &str) -> Result<String> {
        let mut watch = Watch::new(self.stack, id).with_client(&self.client).patient(END_PATIENCE);
        let job = watch.end().with_context(|| format!("job {id}"))?;
        let counts = json!({ "succeeded": RECORDS, "failed": 0, "skipped": 0, "pending": 0 });
        ensure!(job["status"] == "completed" && job["counts"] == counts, "{job}");
        let audit = self.client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
        ensure!(audit["equal"] == true, "job {id}: {audit}");
        Ok(id.to_owned())
    }

    fn undo(&self, import: &str) -> Result<String> {
        self.accepted("POST", &format!("/api/jobs/{import}/undo"))
    }

    fn delete(&self, dataset: &str) -> Result<String> {
        self.accepted("DELETE", &format!("/api/datasets/{dataset}"))
    }

    /// Repeats a request until a job is created, and waits for its end. A repeated request creates no second job while
    /// the first one is active.
    fn accepted(&self, method: &str, path: &str) -> Result<String> {
        let started = Instant::now();
        loop {
            let answer = self.client.call(method, path, &[], &[]);
            if let Ok(answer) = &answer
                && matches!(answer.status, 200 | 202)
            {
                return self.end(answer.json()["jobId"].as_str().context("the job has no id")?);
            }
            // A killed function has no answer, or one of the gateway that is not in the API's document.
            let is_temporary =
                answer.as_ref().map_or(true, |answer| answer.status >= 500 || answer.text().contains("undo-too-early"));
            if !is_temporary || started.elapsed() > PATIENCE {
                bail!("{method} {path}: {:?}", answer.map(|answer| answer.text()));
            }
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn records(&self, dataset: &str) -> Result<Records> {
        let records = self.client.records(dataset)?;
        Ok(records.into_iter().map(|(key, mut record)| (key, record["record"].take())).collect())
    }

    fn compare(&mut self, after: &str, expected: &Records, actual: &Records) {
        let found = compare("record", expected, actual);
        self.differences.extend(found.into_iter().map(|difference| format!("after {after}: {difference}")));
    }
}

/// Rows by their key.
fn by_id(rows: &[Value]) -> Records {
    rows.iter().map(|row| (row["id"].as_str().unwrap_or_default().to_owned(), row.clone())).collect()
}
