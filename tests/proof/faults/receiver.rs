//! A receiver of webhooks that fails, and the tenants that it belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::random::nonce;
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::handlers::Endpoint;
use longshore_tests::harness::stack::Stack;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::jobs::patient;
use super::server::{Server, wait_until};

/// Paths of the tenants' webhooks.
const PATHS: [&str; 5] = ["/0", "/1", "/2", "/3", DEAD];

/// Path whose calls get no answer until the repair.
const DEAD: &str = "/dead";

/// Time from the creation of a job to its start, in seconds.
const LATER_S: i64 = 86_400;

/// Maximum number of calls that cancel one job.
const CANCELS: u32 = 20;

/// Maximum time until another job is accepted.
const PATIENCE: Duration = Duration::from_secs(400);

/// Pause before a call is repeated.
const PAUSE: Duration = Duration::from_secs(1);

/// A receiver and its records.
pub(super) struct Receiver {
    pub(super) tenants: Vec<Tenant>,
    endpoint: Endpoint,
    folder: TempDir,
    failing: Duration,
    server: Mutex<Option<Server>>,
}

/// A call that the receiver has recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Call {
    path: String,
    pub(super) id: String,
    pub(super) accepted: bool,
    /// Age of the event, in seconds.
    pub(super) age_s: f64,
    body: Value,
}

impl Call {
    /// The difference of the message from the listed event.
    pub(super) fn difference(&self, listed: &BTreeMap<String, Value>) -> Option<String> {
        let event = listed.get(&self.id);
        (event != Some(&self.body)).then(|| format!("{} with {}, but listed is {event:?}", self.id, self.body))
    }
}

impl Receiver {
    /// Creates the tenants, and waits until their webhooks are active.
    pub(super) fn start(stack: &Stack, endpoint: Endpoint, failing: Duration) -> Result<Self> {
        let tenants: Result<Vec<_>> = PATHS.iter().map(|path| Tenant::new(stack, &endpoint, path)).collect();
        let (folder, server) = (tempfile::tempdir()?, Mutex::default());
        let receiver = Self { tenants: tenants?, endpoint, folder, failing, server };
        fs::write(receiver.records(), "")?;
        receiver.restart(Duration::ZERO)?;
        receiver.tenants.iter().try_for_each(Tenant::check)?;
        Ok(receiver)
    }

    /// Stops the receiver for a time.
    pub(super) fn restart(&self, pause: Duration) -> Result<()> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        drop(server.take());
        thread::sleep(pause);
        let secrets: BTreeMap<_, _> = self.tenants.iter().map(|tenant| (tenant.path, &tenant.secret)).collect();
        let secrets = serde_json::to_string(&secrets)?;
        let (records, failing) = (self.records(), self.failing.as_secs().to_string());
        let arguments = [records.to_str().context("no path")?, &failing];
        let script = "tests/proof/faults/receiver.py";
        *server = Some(Server::start(&self.endpoint, self.folder.path(), &secrets, script, &arguments)?);
        Ok(())
    }

    /// Answers this tenant's calls from now on, and replays the events that were not accepted.
    pub(super) fn repair(&self, tenant: &Tenant) -> Result<()> {
        fs::write(self.records().with_extension("repaired"), "")?;
        tenant.check()?;
        let since = json!({ "since": Timestamp::now().plus_seconds(-LATER_S).to_rfc3339() });
        tenant.client.post(&format!("{}/replay", tenant.webhook), &since)?.expect(202)?;
        Ok(())
    }

    fn records(&self) -> PathBuf {
        self.folder.path().join("records")
    }

    /// Returns the calls of a tenant's events, in their order.
    pub(super) fn calls(&self, tenant: &Tenant) -> Result<Vec<Call>> {
        let records = fs::read_to_string(self.records())?;
        // The receiver can be killed while it writes.
        let calls = records.lines().filter_map(|line| serde_json::from_str::<Call>(line).ok());
        Ok(calls.filter(|call| call.path == tenant.path).collect())
    }
}

/// A tenant with a webhook.
pub(super) struct Tenant {
    client: Client,
    path: &'static str,
    /// Path of the webhook in the API.
    webhook: String,
    secret: String,
}

impl Tenant {
    /// Creates a tenant with a dataset and a webhook, and waits for the end of the first check: the receiver does not run
    /// yet.
    fn new(stack: &Stack, endpoint: &Endpoint, path: &'static str) -> Result<Self> {
        let user = stack.users.add(&format!("receiver-{}", nonce()))?;
        let client = patient(stack).with_token(&user.token);
        client.start_once("import", b"id\n1\n", &json!({ "dataset": "people", "key": "id" }))?;
        let url = format!("{}{}", endpoint.url(), path.trim_start_matches('/'));
        let webhook = json!({ "url": url, "eventTypes": ["job.canceled"] });
        let webhook = client.post("/api/webhooks", &webhook)?.expect(201)?;
        let id = webhook["webhookId"].as_str().context("no id")?;
        let secret = webhook["secret"].as_str().context("no secret")?.to_owned();
        let tenant = Self { client, path, webhook: format!("/api/webhooks/{id}"), secret };
        wait_until("the first check has ended", || Ok(!tenant.read()?["check"]["result"].is_null()))?;
        Ok(tenant)
    }

    fn read(&self) -> Result<Value> {
        self.client.get(&self.webhook)?.expect(200)
    }

    /// Requests a check, and waits until it has passed.
    fn check(&self) -> Result<()> {
        self.client.post(&format!("{}/test", self.webhook), &json!({}))?.expect(202)?;
        wait_until("a check has passed", || {
            let webhook = self.read()?;
            Ok(webhook["status"] == "active" && webhook["check"]["result"] == "passed")
        })
    }

    /// Returns false if the receiver does not answer this tenant's calls until it is repaired.
    pub(super) fn answers(&self) -> bool {
        self.path != DEAD
    }

    /// Creates a job that starts later, and cancels it. Returns its id.
    pub(super) fn canceled_job(&self) -> Result<String> {
        let later = Timestamp::now().plus_seconds(LATER_S).to_rfc3339();
        let request = json!({ "jobType": "export", "source": { "dataset": "people" }, "startAt": later });
        let key = nonce();
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        let create = || self.client.call("POST", "/api/jobs", &headers, request.to_string().as_bytes());
        let (mut created, deadline) = (create()?, Instant::now() + PATIENCE);
        // A tenant has a maximum number of active jobs. A canceled job counts until its end.
        while created.status == 429 && Instant::now() < deadline {
            thread::sleep(PAUSE);
            created = create()?;
        }
        let job = created.expect(202)?;
        let id = job["jobId"].as_str().context("the job has no id")?;
        for _ in 0..CANCELS {
            let answer = self.client.post(&format!("/api/jobs/{id}/cancel"), &json!({}));
            // A function that was killed may have canceled it.
            if answer.is_ok_and(|answer| answer.status < 300) || self.client.job(id)?["status"] == "canceled" {
                return Ok(id.to_owned());
            }
            thread::sleep(PAUSE);
        }
        bail!("the job {id} is not canceled");
    }

    /// Waits until the end of each job is listed. Returns the listed events by their ids, if each job has one.
    pub(super) fn listed(&self, jobs: &BTreeSet<String>, deadline: Instant) -> Result<BTreeMap<String, Value>> {
        let list = || {
            let events = self.client.events()?.into_iter().filter(|event| event["type"] == "job.canceled");
            anyhow::Ok(events.collect::<Vec<_>>())
        };
        let mut events = list()?;
        while events.len() < jobs.len() {
            ensure!(Instant::now() < deadline, "{} of {} events are listed", events.len(), jobs.len());
            thread::sleep(PAUSE);
            events = list()?;
        }
        let of_jobs: BTreeSet<_> = events.iter().filter_map(|event| event["data"]["jobId"].as_str()).collect();
        ensure!(of_jobs.len() == events.len(), "a job has two events");
        ensure!(jobs.iter().all(|job| of_jobs.contains(job.as_str())), "a job has no event");
        let count = events.len();
        let listed: BTreeMap<_, _> =
            events.into_iter().filter_map(|event| Some((event["id"].as_str()?.to_owned(), event))).collect();
        ensure!(listed.len() == count, "two events have one id");
        Ok(listed)
    }

    /// Returns the number of accepted deliveries, if each delivery has another event.
    pub(super) fn delivered(&self) -> Result<usize> {
        let (mut events, mut delivered, mut cursor) = (BTreeSet::new(), 0, String::new());
        loop {
            let page = self.client.get(&format!("{}/deliveries?limit=100{cursor}", self.webhook))?.expect(200)?;
            for delivery in page["deliveries"].as_array().context("no deliveries")? {
                ensure!(events.insert(delivery["event"]["id"].to_string()), "two deliveries: {delivery}");
                delivered += usize::from(delivery["status"] == "delivered");
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(delivered),
            }
        }
    }
}
