//! A stack with job types whose handlers record what they process: a Lambda function, also over a dataset, and an HTTPS
//! endpoint that has faults on request.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context, Result, ensure};
use local_cloud::process::kill;
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::handlers::{Endpoint, alias, parameters};
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::handled::{Target, file};
use super::jobs::{PARAMETERS, has_own_emulator, patient};
use super::server::{Server, source, wait_until};

/// Name of the handler's function, which the stack may invoke.
pub(super) const HANDLER: &str = "effects";

/// Number of items in a batch.
const BATCH_ITEMS: u32 = 20;

/// The time until the sweeper sends a chunk once more is longer than a late reply of AWS and the time-out of a call.
const OTHERS: [(&str, &str); 1] = [("StallSeconds", "30")];

/// A stack with handlers.
pub(super) struct Handlers {
    pub(super) stack: Stack,
    /// A client of an operator, with retries.
    pub(super) operator: Client,
    /// The dataset of the jobs over a dataset.
    pub(super) dataset: String,
    endpoint: Endpoint,
    /// The secret of the endpoint.
    secret: String,
    /// The certificate, the faults of the endpoint, and the records of the handlers.
    folder: TempDir,
    server: Mutex<Option<Server>>,
}

/// The stack with handlers and fault injection, for one test at a time. `None` on an emulator that this process did not
/// start.
pub(super) fn handlers() -> Option<MutexGuard<'static, Handlers>> {
    static HANDLERS: OnceLock<Mutex<Handlers>> = OnceLock::new();
    let start = || Mutex::new(Handlers::start().unwrap_or_else(|error| panic!("the stack does not start: {error:?}")));
    has_own_emulator().then(|| HANDLERS.get_or_init(start).lock().unwrap_or_else(PoisonError::into_inner))
}

impl Handlers {
    fn start() -> Result<Self> {
        let endpoint = Endpoint::new()?;
        let parameters = [&PARAMETERS[..], &parameters(&[&endpoint], &[HANDLER]), &OTHERS].concat();
        let stack = Stack::start(&StackOptions { faults: true, parameters, ..Default::default() })?;
        let files = ["handler.py", "https_endpoint.py"].map(|name| source(&format!("tests/proof/faults/{name}")));
        stack.create_python_function(HANDLER, "handler.lambda_handler", &files)?;
        let user = stack.users.add_operator(&format!("operator-{}", nonce()))?;
        let operator = patient(&stack).with_token(&user.token);
        let dataset = format!("handled-{}", nonce());
        let (folder, secret) = (tempfile::tempdir()?, String::new());
        let mut handlers = Self { stack, operator, dataset, endpoint, secret, folder, server: Mutex::new(None) };
        handlers.prepare()?;
        Ok(handlers)
    }

    /// Registers the job types, starts the endpoint, and imports the dataset.
    fn prepare(&mut self) -> Result<()> {
        fs::create_dir(self.faults())?;
        // The secret exists from the first registration on, whose ping is refused.
        let name = Target::Endpoint.job_type();
        self.operator.put_job_type(name, &self.content(Target::Endpoint))?.expect(202)?;
        wait_until("the first ping is refused", || Ok(self.operator.is_active(name).is_err()))?;
        self.secret = self.read_secret(name)?;
        self.serve()?;
        for target in Target::ALL {
            self.register(target.job_type(), target)?;
        }
        let options = json!({ "dataset": self.dataset, "key": "id" });
        let import = patient(&self.stack).start_once("import", &file(), &options)?;
        let job = Watch::new(&self.stack, &import).end()?;
        ensure!(job["status"] == "completed" && job["counts"]["failed"] == 0, "{job}");
        Ok(())
    }

    /// Registers a job type with this target, and waits until it is active.
    pub(super) fn register(&self, name: &str, target: Target) -> Result<()> {
        self.activate(name, &self.content(target))
    }

    /// Registers a job type, and waits until it is active.
    pub(super) fn activate(&self, name: &str, content: &Value) -> Result<()> {
        self.operator.put_job_type(name, content)?.expect(202)?;
        wait_until("a job type is active", || self.operator.is_active(name))
    }

    /// The registration of a target. A function can start slowly on a busy machine.
    pub(super) fn content(&self, target: Target) -> Value {
        let (handler, timeout_s) = match target {
            Target::Function | Target::Dataset => (json!({ "function": alias(HANDLER) }), 15),
            Target::Endpoint => (json!({ "url": self.endpoint.url() }), 5),
        };
        let batch = json!({ "items": BATCH_ITEMS, "timeoutSeconds": timeout_s });
        let mut registration = json!({ "target": handler, "outputSchema": {}, "tries": 10, "batch": batch });
        match target {
            Target::Function => {}
            Target::Endpoint => registration["itemsPerSecond"] = 100.into(),
            Target::Dataset => registration["input"] = "dataset".into(),
        }
        registration
    }

    /// Kills the idle processes of these functions, so that their next calls are those of a cold start.
    pub(super) fn cool_down(&self, function_outputs: &[&str]) -> Result<()> {
        for output in function_outputs {
            self.stack.processes(output)?.into_iter().for_each(|process| drop(kill(process)));
            wait_until("all processes have ended", || Ok(self.stack.processes(output)?.is_empty()))?;
        }
        Ok(())
    }

    /// Address of an image that the endpoint serves.
    pub(super) fn image_url(&self, number: u64) -> String {
        format!("{}{number}.png", self.endpoint.url())
    }

    /// Reads the secret of an endpoint, as an operator does.
    pub(super) fn read_secret(&self, name: &str) -> Result<String> {
        let secret = self.operator.get(&format!("/api/job-types/{name}/secret"))?.expect(200)?;
        Ok(secret["secret"].as_str().context("no secret")?.to_owned())
    }

    /// Starts the endpoint.
    pub(super) fn serve(&self) -> Result<()> {
        self.serve_as(&self.endpoint)
    }

    /// Starts the endpoint with a certificate that the stack does not trust.
    pub(super) fn serve_with_a_wrong_certificate(&self) -> Result<()> {
        self.serve_as(&self.endpoint.with_another_certificate()?)
    }

    fn serve_as(&self, endpoint: &Endpoint) -> Result<()> {
        let faults = self.faults();
        let arguments = [faults.to_str().context("no path")?];
        let server =
            Server::start(endpoint, self.folder.path(), &self.secret, "tests/proof/faults/handler.py", &arguments)?;
        self.set_server(Some(server));
        Ok(())
    }

    /// Stops the endpoint: connections are refused.
    pub(super) fn stop_serving(&self) {
        self.set_server(None);
    }

    fn set_server(&self, server: Option<Server>) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }

    /// Requests one fault for each of these names, such as `items-01-reset`.
    pub(super) fn request_faults(&self, names: &[String]) -> Result<()> {
        names.iter().try_for_each(|name| Ok(fs::write(self.faults().join(name), "")?))
    }

    /// The requested faults that have not occurred.
    pub(super) fn missing_faults(&self) -> Result<Vec<String>> {
        let names = fs::read_dir(self.faults())?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn faults(&self) -> PathBuf {
        self.folder.path().join("faults")
    }

    /// Creates the folder for the records of one job's handler.
    pub(super) fn effects(&self) -> Result<PathBuf> {
        let folder = self.folder.path().join(nonce());
        fs::create_dir(&folder)?;
        Ok(folder)
    }
}
