//! Two tenants and their jobs: imports, and jobs of a registered type, started one after the other while a fault is
//! there.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, mem};

use anyhow::{Context, Result};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::handlers::{Endpoint, alias};
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::monitor::Monitor;
use super::receiver::{Receiver, Webhook};
use crate::faults::server::{source, wait_until};
use crate::sample::Sample;

/// Name of the handler's function, and of its job type.
pub(super) const HANDLER: &str = "game-day";

/// Rows of an import.
const ROWS: u64 = 50;

/// Items of a job of the registered type.
pub(super) const ITEMS: u64 = 20;

/// Pause between two jobs of a tenant.
const JOB_PAUSE: Duration = Duration::from_secs(4);

/// Pause between two looks at what is awaited.
pub(super) const CALL_PAUSE: Duration = Duration::from_millis(300);

/// Total time of the retries of a create.
const CREATE_PATIENCE: Duration = Duration::from_secs(100);

/// A tenant.
pub(super) struct Tenant {
    pub(super) client: Client,
    pub(super) token: String,
    pub(super) webhook: Webhook,
}

/// Work of a job.
pub(super) enum Work {
    Import(Box<Sample>),
    Items,
}

/// A job that was started, and is not compared yet.
pub(super) struct Started {
    pub(super) id: String,
    pub(super) tenant: usize,
    pub(super) work: Work,
}

/// The load of a stack.
pub(super) struct Load<'a> {
    pub(super) stack: &'a Stack,
    pub(super) tenants: Vec<Tenant>,
    pub(super) receiver: Receiver,
    started: Mutex<Vec<Started>>,
    folder: TempDir,
    /// True while callers call the API beside those who start jobs.
    callers: AtomicBool,
}

impl<'a> Load<'a> {
    /// Creates the tenants with their webhooks, the receiver, and the handler with its job type.
    pub(super) fn start(stack: &'a Stack, endpoint: Endpoint) -> Result<Self> {
        let other = stack.users.add("bob")?;
        // The first tenant is that of the stack's own user, who has the jobs that are written directly.
        let own = stack.users.sign_in("alice", "AccessToken")?;
        let mut tenants = Vec::new();
        for (token, path) in [(own, "/0"), (other.token, "/1")] {
            let client = stack.client.clone().with_token(&token);
            let webhook = Webhook::create(&client, &endpoint, path)?;
            tenants.push(Tenant { client, token, webhook });
        }
        let webhooks: Vec<_> = tenants.iter().map(|tenant| tenant.webhook.clone()).collect();
        let receiver = Receiver::start(endpoint, &webhooks)?;
        tenants.iter().try_for_each(|tenant| tenant.webhook.check(&tenant.client))?;
        let (started, folder, callers) = (Mutex::default(), tempfile::tempdir()?, AtomicBool::new(false));
        let load = Self { stack, tenants, receiver, started, folder, callers };
        stack.create_python_function(HANDLER, "handler.lambda_handler", &load.handler("good")?)?;
        load.register()?;
        Ok(load)
    }

    fn register(&self) -> Result<()> {
        let operator = self.stack.users.add_operator("registrar")?;
        let operator = self.stack.client.clone().with_token(&operator.token);
        let target = json!({ "function": alias(HANDLER) });
        let batch = json!({ "items": ITEMS, "timeoutSeconds": 15 });
        let content = json!({ "target": target, "outputSchema": {}, "tries": 10, "batch": batch });
        operator.put_job_type(HANDLER, &content)?.expect(202)?;
        wait_until("the job type is active", || operator.is_active(HANDLER))
    }

    /// The files of the handler in this mode.
    fn handler(&self, mode: &str) -> Result<Vec<PathBuf>> {
        let file = self.folder.path().join("mode");
        fs::write(&file, mode)?;
        Ok(vec![source("tests/proof/game_day/handler.py"), file])
    }

    /// Deploys the handler in this mode.
    pub(super) fn deploy_handler(&self, mode: &str) -> Result<()> {
        self.stack.update_python_function(HANDLER, &self.handler(mode)?)
    }

    /// Lets many callers call the API, too, until the end of the fault.
    pub(super) fn call_much(&self) {
        self.callers.store(true, Ordering::Relaxed);
    }

    /// Runs an action while both tenants start jobs. Returns its result, and the jobs that could not be started.
    pub(super) fn during<T>(
        &self,
        monitor: &Monitor<'_>,
        act: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<(T, Vec<String>)> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let over = &over;
            let starters: Vec<_> =
                (0..self.tenants.len()).map(|tenant| scope.spawn(move || self.start_jobs(tenant, over))).collect();
            for caller in 0..CALLERS {
                scope.spawn(move || self.call(caller, monitor, over));
            }
            let end = EndOfLoad { over, callers: &self.callers };
            let result = act(self);
            drop(end);
            let mut failed = Vec::new();
            for starter in starters {
                failed.extend(starter.join().unwrap_or_else(|_| vec!["a caller has panicked".to_owned()]));
            }
            Ok((result?, failed))
        })
    }

    fn start_jobs(&self, tenant: usize, over: &AtomicBool) -> Vec<String> {
        let mut failed = Vec::new();
        for number in 0_u32.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let started = if number % 2 == 0 { self.import(tenant) } else { self.items(tenant) };
            if let Err(error) = started {
                failed.push(format!("a job is not accepted: {error:#}"));
            }
            thread::sleep(JOB_PAUSE);
        }
        failed
    }

    fn import(&self, tenant: usize) -> Result<()> {
        let sample = Self::sample();
        let client = self.patient(tenant);
        let id = client.start_once("import", &sample.file, &sample.options())?;
        self.add(id, tenant, Work::Import(Box::new(sample)));
        Ok(())
    }

    fn items(&self, tenant: usize) -> Result<()> {
        let items: Vec<_> = (1..=ITEMS).map(output).collect();
        let request = json!({ "jobType": HANDLER, "items": items, "options": {} });
        let key = nonce();
        let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
        let body = request.to_string();
        let job = self.patient(tenant).call("POST", "/api/jobs", &headers, body.as_bytes())?.expect(202)?;
        self.add(job["jobId"].as_str().context("the job has no id")?.to_owned(), tenant, Work::Items);
        Ok(())
    }

    /// A file for a dataset of its own.
    pub(super) fn sample() -> Sample {
        Sample::upsert(&format!("day-{}", nonce()), ROWS)
    }

    /// Adds an import of the first tenant that was written directly.
    pub(super) fn adopt(&self, id: String, sample: Sample) {
        self.add(id, 0, Work::Import(Box::new(sample)));
    }

    pub(super) fn patient(&self, tenant: usize) -> Client {
        self.tenants[tenant].client.clone().patient(CREATE_PATIENCE)
    }

    fn add(&self, id: String, tenant: usize, work: Work) {
        self.started().push(Started { id, tenant, work });
    }

    pub(super) fn started(&self) -> MutexGuard<'_, Vec<Started>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the API without retries while callers are requested: a read, then a write. The monitor counts the answers.
    fn call(&self, caller: usize, monitor: &Monitor<'_>, over: &AtomicBool) {
        let client = &self.tenants[caller % self.tenants.len()].client;
        let mut stagger = CALL_PERIOD * u32::try_from(caller).unwrap_or_default() / CALLERS as u32;
        for number in 0_u32.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            if !self.callers.load(Ordering::Relaxed) {
                thread::sleep(CALL_PAUSE);
                continue;
            }
            thread::sleep(mem::take(&mut stagger));
            let began = Instant::now();
            let upload = json!({ "fileName": "call.csv", "contentType": "text/csv", "size": 1 });
            let answer = match number % 2 {
                0 => client.get("/api/jobs?limit=1"),
                _ => client.post("/api/uploads", &upload),
            };
            monitor.count_call(answer.ok().map(|answer| answer.status));
            thread::sleep(CALL_PERIOD.saturating_sub(began.elapsed()));
        }
    }
}

/// Ends starters and callers when it is dropped, also by a panic.
struct EndOfLoad<'a> {
    over: &'a AtomicBool,
    callers: &'a AtomicBool,
}

impl Drop for EndOfLoad<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.callers.store(false, Ordering::Relaxed);
    }
}

/// Number of callers.
const CALLERS: usize = 72;

/// Time from one call of a caller to the next one, unless the call takes longer. All callers together make 20 calls a
/// second, which is the rate limit of two tenants; and six, if each call is throttled for a dozen seconds. A share of
/// errors needs 20 calls in five seconds.
const CALL_PERIOD: Duration = Duration::from_millis(3_600);

/// An item, and its output.
pub(super) fn output(number: u64) -> Value {
    json!({ "id": format!("k{number}") })
}
