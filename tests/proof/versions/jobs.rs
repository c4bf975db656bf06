//! The jobs that run while functions are swapped. Together they use every queue, and every kind of file of a job.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::faults::jobs::{END_PATIENCE, finish};
use crate::faults::server::{source, wait_until};
use crate::sample::{Sample, compare};

/// The sweeper recovers the chunks of processes that were killed, and no message is dead-lettered because of them. The
/// stack may call the handler, and has every function.
pub(super) const PARAMETERS: [(&str, &str); 5] = [
    ("StallSeconds", "5"),
    ("MaxReceiveCount", "20"),
    ("WorkerTimeoutSeconds", "15"),
    ("HandlerFunctions", HANDLER_ALIAS),
    ("ImageJobs", "true"),
];

/// Name of the handler's function, and of its job type.
const HANDLER: &str = "versions";

const HANDLER_ALIAS: &str = "arn:aws:lambda:us-east-1:000000000000:function:versions:live";

/// Rows of a job's file, which takes a second or two.
const ROWS: u64 = 500;

/// Rows of a large file, whose job runs while several functions are swapped.
const LARGE_ROWS: u64 = 15_000;

/// Items of a job with a handler.
const HANDLED_ITEMS: u64 = 120;

/// Total time of a client's retries, while the processes that it calls are killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind of job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Kind {
    /// An import with insert.
    Insert,
    /// An import with upsert of a large file.
    Large,
    /// An import of a compressed file, which is prepared.
    Compressed,
    /// An import whose failed rows are retried.
    Retried,
    /// An import whose dataset is exported.
    Exported,
    /// A job of a registered type.
    Handled,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Insert, Self::Large, Self::Compressed, Self::Retried, Self::Exported, Self::Handled];
}

/// Number of jobs, of their rows and of audits, and the violations.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) jobs: usize,
    pub(super) rows: u64,
    pub(super) audits: usize,
    pub(super) violations: Vec<String>,
}

impl Tally {
    pub(super) fn violation(violation: String) -> Self {
        Self { violations: vec![violation], ..Self::default() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.rows += other.rows;
        self.audits += other.audits;
        self.violations.extend(other.violations);
    }

    /// Counts an ended job, whose audit must find no difference.
    fn ended(&mut self, client: &Client, id: &str, rows: u64, differences: Vec<String>) -> Result<()> {
        let audit = client.get(&format!("/api/jobs/{id}/audit"))?.expect(200)?;
        self.jobs += 1;
        self.rows += rows;
        self.audits += 1;
        self.violations.extend(differences);
        if audit["equal"] != true {
            self.violations.push(format!("job {id}: its audit finds {}", audit["differences"]));
        }
        Ok(())
    }
}

/// A stack with a handler, whose records are in a folder.
pub(super) struct Workload<'a> {
    stack: &'a Stack,
    records: TempDir,
}

impl<'a> Workload<'a> {
    /// Creates the handler, and registers its job type.
    pub(super) fn prepare(stack: &'a Stack) -> Result<Self> {
        let files = ["handler.py", "https_endpoint.py"].map(|name| source(&format!("tests/proof/faults/{name}")));
        stack.create_python_function(HANDLER, "handler.lambda_handler", &files)?;
        let operator = stack.client.clone().patient(PATIENCE);
        let operator = operator.with_token(&stack.users.add_operator("operator")?.token);
        let batch = json!({ "items": 20, "timeoutSeconds": 15 });
        let target = json!({ "function": HANDLER_ALIAS });
        let content = json!({ "target": target, "outputSchema": {}, "tries": 10, "batch": batch });
        operator.put_job_type(HANDLER, &content)?.expect(202)?;
        wait_until("the job type is active", || operator.is_active(HANDLER))?;
        Ok(Self { stack, records: tempfile::tempdir()? })
    }

    /// A client of a new tenant.
    pub(super) fn client(&self, tenant: &str) -> Result<Client> {
        let user = self.stack.users.add(tenant)?;
        Ok(self.stack.client.clone().with_token(&user.token).patient(PATIENCE).of_any_version())
    }

    /// Runs jobs of all kinds, one after the other, until the swaps are over.
    pub(super) fn run(&self, client: &Client, first: usize, over: &AtomicBool) -> Tally {
        let mut tally = Tally::default();
        for kind in Kind::ALL.into_iter().cycle().skip(first) {
            if over.load(Ordering::Relaxed) {
                break;
            }
            if let Err(error) = self.job(client, kind, &mut tally) {
                tally.add(Tally::violation(format!("{kind:?}: {error:#}")));
            }
        }
        tally
    }

    fn job(&self, client: &Client, kind: Kind, tally: &mut Tally) -> Result<()> {
        if kind == Kind::Handled {
            return self.handled(client, tally);
        }
        let dataset = format!("{}-{}", format!("{kind:?}").to_lowercase(), nonce());
        let sample = match kind {
            Kind::Large => Sample::upsert(&dataset, LARGE_ROWS),
            _ => Sample::insert(&dataset, ROWS),
        };
        let compressed = if kind == Kind::Compressed { Some(gzip(&sample.file)?) } else { None };
        let file = compressed.as_ref().unwrap_or(&sample.file);
        let id = client.start_once("import", file, &sample.options())?;
        tally.ended(client, &id, sample.rows, finish(self.stack, client, &id, &sample)?)?;
        match kind {
            Kind::Retried => {
                retry(client, &id)?;
                // The same rows fail again.
                tally.ended(client, &id, sample.rows, finish(self.stack, client, &id, &sample)?)
            }
            Kind::Exported => self.export(client, &sample, tally),
            Kind::Insert | Kind::Large | Kind::Compressed | Kind::Handled => Ok(()),
        }
    }

    /// Exports a dataset, and compares the lines with the records.
    fn export(&self, client: &Client, sample: &Sample, tally: &mut Tally) -> Result<()> {
        let request = json!({ "jobType": "export", "source": { "dataset": sample.dataset }, "options": {} });
        let id = self.completed(client, &request)?;
        let records = client.records(&sample.dataset)?;
        let expected: BTreeMap<_, _> =
            records.into_iter().map(|(key, mut record)| (key, record["record"].take())).collect();
        let lines = lines(client, &id)?.into_iter();
        let exported = lines.map(|line| (line["id"].as_str().unwrap_or_default().to_owned(), line));
        tally.ended(client, &id, expected.len() as u64, compare("exported record", &expected, &exported.collect()))
    }

    /// Runs a job with the handler, and compares its outputs.
    fn handled(&self, client: &Client, tally: &mut Tally) -> Result<()> {
        let records = self.records.path().join(nonce());
        fs::create_dir(&records)?;
        let items: Vec<_> = (1..=HANDLED_ITEMS).map(|n| json!({ "id": format!("k{n}"), "action": "ok" })).collect();
        let request = json!({ "jobType": HANDLER, "items": items, "options": { "effects": records } });
        let id = self.completed(client, &request)?;
        let expected: BTreeMap<_, _> = (1..=HANDLED_ITEMS).map(|n| (n, json!({ "id": format!("k{n}") }))).collect();
        let lines = lines(client, &id)?.into_iter();
        let outputs = lines.map(|line| (line["number"].as_u64().unwrap_or_default(), line["output"].clone()));
        tally.ended(client, &id, HANDLED_ITEMS, compare("output", &expected, &outputs.collect()))
    }

    /// Creates a job once, although calls fail, and waits until it has completed without a failed item.
    fn completed(&self, client: &Client, request: &Value) -> Result<String> {
        let key = nonce();
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        let job = client.call("POST", "/api/jobs", &headers, request.to_string().as_bytes())?.expect(202)?;
        let id = job["jobId"].as_str().context("the job has no id")?.to_owned();
        let job = Watch::new(self.stack, &id).with_client(client).patient(END_PATIENCE).end()?;
        ensure!(job["status"] == "completed" && job["counts"]["failed"] == 0, "{job}");
        Ok(id)
    }
}

/// Retries the failed rows. A call whose function is killed has no response, so the generation is read.
fn retry(client: &Client, id: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = client.retry(id, None);
        if client.job(id)?["attempts"] == 2 {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("job {id} is not retried: {:?}", answer.map(|answer| answer.text()));
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// The lines of the results of a job.
fn lines(client: &Client, id: &str) -> Result<Vec<Value>> {
    let text = String::from_utf8(client.output(id, "results.jsonl")?)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
