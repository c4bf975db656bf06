//! The system on an emulator: the repository's template and its real binaries, deployed by `sam deploy`.
//!
//! A stack takes about ten seconds to start, so the tests of a process share it. They do not interfere with each other:
//! each has its own jobs and datasets, and its faults match a job by its id.

use std::collections::BTreeMap;
use std::future::Future;

use anyhow::{Context, Result};
use local_cloud::cloud::Cloud;
use local_cloud::emulator::{self, OwnedEmulator};
use local_cloud::process::{Cleanup, free_port};
use longshore::config::Aws;
use longshore_domain::random::nonce;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::aws_limits::LimitsProxy;
use super::client::Client;
use super::deploy::{create, grant_permissions};
use super::faults::Faults;
use super::setup::aws;
use super::users::Users;

pub use super::setup::StackOptions;

/// The stack's name. On an emulator that this process did not start it has a suffix, because a stack of that name can
/// already exist.
pub(super) const NAME: &str = "longshore";

/// Environment variable that, with any value, puts the limits proxy between the functions and the emulator.
const LIMITS_PROXY: &str = "LONGSHORE_LIMITS_PROXY";

/// Processes that a stack has started for itself.
#[derive(Default)]
struct Processes {
    emulator: Option<OwnedEmulator>,
    faults: Option<Faults>,
}

/// A running stack.
pub struct Stack {
    /// Client of the stack's HTTP API, signed in as a user.
    pub client: Client,
    /// Tenant of that user.
    pub tenant: String,
    /// The stack's user pool.
    pub users: Users,
    /// The stack's outputs, by name.
    pub outputs: BTreeMap<String, String>,
    /// Clients for the emulator that bypass the proxy.
    pub aws: Aws,
    pub(super) endpoint: String,
    emulator: Option<OwnedEmulator>,
    faults: Option<Faults>,
    limits: Option<LimitsProxy>,
    pub(super) cloud: Cloud,
    runtime: Runtime,
    guard: Option<Cleanup>,
    /// Folder with the state that a restart loads.
    _state: Option<TempDir>,
}

impl Stack {
    /// Starts an emulator that refuses calls without a permission, and deploys to it. If `LONGSHORE_ENDPOINT` is set,
    /// deploys to that emulator instead, without faults and permissions.
    ///
    /// # Errors
    /// If a tool or a binary is missing, or the deployment fails.
    pub fn start(options: &StackOptions) -> Result<Self> {
        if let Ok(endpoint) = std::env::var("LONGSHORE_ENDPOINT") {
            let name = format!("{NAME}-tests-{}", nonce());
            return Self::deploy(endpoint.trim_end_matches('/').to_owned(), &name, Processes::default(), options);
        }
        let port = free_port()?;
        let emulator_url = format!("http://127.0.0.1:{port}");
        let has_limits_proxy = std::env::var_os(LIMITS_PROXY).is_some();
        let limits = if has_limits_proxy { Some(LimitsProxy::start(&emulator_url)?) } else { None };
        let upstream = limits.as_ref().map_or(emulator_url, |limits| limits.endpoint.clone());
        let faults = if options.faults { Some(Faults::start(&upstream)?) } else { None };
        let state = if options.persists {
            Some(tempfile::tempdir().context("cannot create a folder for the state")?)
        } else {
            None
        };
        let mut variables = vec![("AUTH".to_owned(), "true".to_owned())];
        variables.extend(state.iter().flat_map(|folder| emulator::kept_in(folder.path())));
        let emulator = OwnedEmulator::start_with(emulator::Options {
            port: Some(port),
            functions_endpoint: Some(faults.as_ref().map_or(upstream, |faults| faults.endpoint.clone())),
            variables,
        })?;
        let endpoint = emulator.endpoint.clone();
        let stack = Self::deploy(endpoint, NAME, Processes { emulator: Some(emulator), faults }, options)?;
        Ok(Self { _state: state, limits, ..stack })
    }

    fn deploy(endpoint: String, name: &str, processes: Processes, options: &StackOptions) -> Result<Self> {
        let Processes { emulator, faults } = processes;
        let guard = guard(emulator.as_ref(), faults.as_ref())?;
        let cloud = Cloud::new(&endpoint)?;
        let outputs = create(&cloud, &endpoint, name, options)?;
        if emulator.is_some() {
            grant_permissions(&cloud, name)?;
        }
        let api = outputs.get("ApiId").context("the stack has no output ApiId")?;
        let mut client = Client::new(&format!("{endpoint}/_aws/execute-api/{api}/$default"));
        if let Some(faults) = &faults {
            client = client.bypassing(&faults.endpoint, &endpoint);
        }
        let users = Users::new(&cloud, &outputs)?;
        let user = users.add("alice")?;
        client = client.with_token(&user.token);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let aws = aws(&endpoint);
        let tenant = user.tenant;
        let stack = Self {
            client,
            tenant,
            users,
            outputs,
            aws,
            endpoint,
            emulator,
            faults,
            limits: None,
            cloud,
            runtime,
            guard,
            _state: None,
        };
        stack.warm_proxy()?;
        Ok(stack)
    }

    /// Stops the emulator with all running functions, and starts it again. A stack that was not started with `persists`
    /// is empty afterwards.
    ///
    /// # Errors
    /// If this process did not start the emulator, or the emulator does not stop or start.
    pub fn restart(&mut self) -> Result<()> {
        let emulator = self.emulator.as_mut().context("this stack has not started its emulator")?;
        self.guard.take().into_iter().for_each(Cleanup::call_off);
        emulator.restart()?;
        self.guard = guard(self.emulator.as_ref(), self.faults.as_ref())?;
        Ok(())
    }

    /// Makes the fault proxy read the model of each service, which it does at the first call. On a busy machine that
    /// takes longer than a function's timeout.
    fn warm_proxy(&self) -> Result<()> {
        let Some(faults) = &self.faults else { return Ok(()) };
        let aws = aws(&faults.endpoint);
        self.run(aws.dynamodb().describe_table().table_name(self.output("JobsTableName")?).send())?;
        self.run(aws.sqs().get_queue_attributes().queue_url(self.output("ChunkQueueUrl")?).send())?;
        self.run(aws.s3().head_bucket().bucket(self.output("BucketName")?).send())?;
        Ok(())
    }

    /// Returns true if this process started the emulator: its processes can be killed, and its functions share this
    /// machine's files.
    pub fn is_own(&self) -> bool {
        self.emulator.is_some()
    }

    /// Waits for the result of a call of an SDK.
    pub fn run<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }

    /// The fault proxy in front of the functions' AWS.
    ///
    /// # Errors
    /// If the stack was started without one.
    pub fn faults(&self) -> Result<&Faults> {
        self.faults.as_ref().context("this stack has no fault proxy")
    }

    /// The functions' calls that the limits proxy refused, because AWS would have refused them.
    pub fn refusals(&self) -> Vec<String> {
        self.limits.as_ref().map(LimitsProxy::refusals).unwrap_or_default()
    }

    /// Number of the functions' calls that the limits proxy refused because of a conflict with a transaction.
    pub fn conflicts(&self) -> usize {
        self.limits.as_ref().map(LimitsProxy::conflicts).unwrap_or_default()
    }

    /// Runs the sweeper once, as its schedule would.
    ///
    /// # Errors
    /// If it fails.
    pub fn sweep(&self) -> Result<Value> {
        self.cloud.invoke(self.output("SweepFunctionName")?)
    }

    /// The name of a stack whose emulator this process has started, and the emulator's endpoint.
    pub fn address(&self) -> (&str, &str) {
        (NAME, &self.endpoint)
    }

    /// One output of the stack.
    ///
    /// # Errors
    /// If there is no output of that name.
    pub fn output(&self, name: &str) -> Result<&str> {
        self.outputs.get(name).map(String::as_str).with_context(|| format!("the stack has no output {name}"))
    }

    /// Processes of a function, including idle ones.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub fn processes(&self, function_output: &str) -> Result<Vec<u32>> {
        Ok(self.processes_of(self.output(function_output)?))
    }

    /// Processes of the function of this name, including idle ones.
    pub fn processes_of(&self, function: &str) -> Vec<u32> {
        let name = format!("AWS_LAMBDA_FUNCTION_NAME={function}");
        self.emulator.as_ref().map(|emulator| emulator.process().children_with(&name)).unwrap_or_default()
    }

    /// Log events of a function so far.
    ///
    /// # Errors
    /// If the stack has no such output, or the function has never run.
    pub fn logs(&self, function_output: &str) -> Result<Vec<String>> {
        self.logs_since(function_output, Timestamp(0))
    }

    /// Log events of a function from a time on.
    ///
    /// # Errors
    /// If the stack has no such output, or the function has never run.
    pub fn logs_since(&self, function_output: &str, from: Timestamp) -> Result<Vec<String>> {
        let group = format!("/aws/lambda/{}", self.output(function_output)?);
        self.cloud.logs_since(&group, u64::try_from(from.0)?)
    }

    /// Peak memory of the emulator and of the largest function process, in MiB. A function reports its own at the end
    /// of each invocation.
    ///
    /// # Errors
    /// If this process did not start the emulator.
    pub fn peak_memory_mib(&self) -> Result<(u64, u64)> {
        let emulator = self.emulator.as_ref().context("this stack has not started its emulator")?;
        let output = emulator.output();
        let reports = output.split("\"invocation.max_rss_kib\":").skip(1);
        let kib = reports.filter_map(|report| report.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok());
        Ok((
            emulator.process().peak_memory_mib().context("the emulator's memory cannot be read")?,
            kib.max().unwrap_or(0) >> 10,
        ))
    }

    /// The last lines of the output of the emulator and the functions.
    pub fn log_tail(&self, lines: usize) -> String {
        let output = self.emulator.as_ref().map(OwnedEmulator::output).unwrap_or_default();
        let output: Vec<_> = output.lines().collect();
        output[output.len().saturating_sub(lines)..].join("\n")
    }
}

fn guard(emulator: Option<&OwnedEmulator>, faults: Option<&Faults>) -> Result<Option<Cleanup>> {
    let processes: Vec<_> =
        emulator.map(OwnedEmulator::process).into_iter().chain(faults.map(Faults::process)).collect();
    if processes.is_empty() { Ok(None) } else { Cleanup::new(&processes).map(Some) }
}
