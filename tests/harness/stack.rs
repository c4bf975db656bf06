//! The whole system on an emulator: the repository's own template and its real binaries, put there by `sam deploy`.
//!
//! A stack takes some ten seconds to start, so the tests of one process share it and keep out of each other's way: each
//! has its own jobs and datasets, and faults that find their job by its id.

use std::collections::BTreeMap;
use std::future::Future;

use anyhow::{Context, Result};
use longshore::config::Aws;
use longshore_domain::ids::nonce;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::aws_limits::LimitsProxy;
use super::client::Client;
use super::cloud::Cloud;
use super::emulator::{self, Emulator};
use super::faults::Faults;
use super::guard::Guard;
use super::process::free_port;
use super::resources::aws;
use super::staging::stage;
use super::users::Users;

/// The stack's name; on an emulator of others with a suffix, for it may hold a stack of that name.
pub(super) const NAME: &str = "longshore";

/// Clocks that make tests quick. A worker has five seconds, and its message comes back after thirty.
const PARAMETERS: [(&str, &str); 12] = [
    ("Environment", "local"),
    ("Architecture", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" }),
    ("RequireTls", "false"),
    ("AllowedOrigins", "*"),
    ("WorkerTimeoutSeconds", "5"),
    ("MaxReceiveCount", "2"),
    ("ScheduleState", "DISABLED"),
    ("RetryBaseSeconds", "1"),
    ("StopGraceSeconds", "1"),
    // All stories are one tenant's.
    ("TenantWorkCalls", "100000"),
    ("TenantCallsPerSecond", "1000"),
    ("TenantCallsAtOnce", "100000"),
];

/// The emulator asks for a call's own name where AWS asks for another action, which the template grants: PartiQLInsert
/// and PartiQLUpdate on the table, SendMessage and ChangeMessageVisibility on the queue.
const MISNAMED: [(&str, &[&str]); 4] = [
    ("ProcessItemRole", &["dynamodb:BatchExecuteStatement", "sqs:SendMessageBatch"]),
    ("CreateJobRole", &["sqs:SendMessageBatch"]),
    ("DeadLettersRole", &["sqs:SendMessageBatch"]),
    ("SweepRole", &["sqs:SendMessageBatch", "sqs:ChangeMessageVisibilityBatch"]),
];

/// Puts the proxy that refuses what AWS refuses between the functions and the emulator, whatever its value.
const LIMITS_PROXY: &str = "LONGSHORE_LIMITS_PROXY";

/// How a stack differs from the usual one.
#[derive(Clone, Debug, Default)]
pub struct StackOptions {
    /// The probe's binary stands in for the functions that know job types.
    pub probe: bool,
    /// A proxy between the functions and AWS, so that they meet faults and the test does not.
    pub faults: bool,
    /// The emulator keeps what it holds when it is stopped, so that the stack can be restarted.
    pub persists: bool,
    /// More parameters, over the quick ones.
    pub parameters: Vec<(&'static str, &'static str)>,
}

/// A running stack.
pub struct Stack {
    /// Its HTTP API, called by a user.
    pub client: Client,
    /// Whose that user's calls are.
    pub tenant: String,
    /// The pool of its users.
    pub users: Users,
    /// Its outputs, by name.
    pub outputs: BTreeMap<String, String>,
    /// Clients for the emulator, past the proxy.
    pub aws: Aws,
    pub(super) endpoint: String,
    emulator: Option<Emulator>,
    faults: Option<Faults>,
    limits: Option<LimitsProxy>,
    pub(super) cloud: Cloud,
    runtime: Runtime,
    guard: Option<Guard>,
    /// What a restart finds again.
    _kept: Option<TempDir>,
}

impl Stack {
    /// Starts an emulator that refuses calls without a policy, and deploys onto it; or deploys onto the emulator that
    /// `LONGSHORE_ENDPOINT` names, without faults and policies.
    ///
    /// # Errors
    /// If a tool or a binary is missing, or the deployment fails.
    pub fn start(options: &StackOptions) -> Result<Self> {
        if let Ok(endpoint) = std::env::var("LONGSHORE_ENDPOINT") {
            let name = format!("{NAME}-tests-{}", nonce());
            return Self::deploy(endpoint.trim_end_matches('/').to_owned(), &name, (None, None), options);
        }
        let port = free_port()?;
        let direct = format!("http://127.0.0.1:{port}");
        let asked = std::env::var_os(LIMITS_PROXY).is_some();
        let limits = if asked { Some(LimitsProxy::start(&direct)?) } else { None };
        let front = limits.as_ref().map_or(direct, |limits| limits.endpoint.clone());
        let faults = if options.faults { Some(Faults::start(&front)?) } else { None };
        let kept =
            if options.persists { Some(tempfile::tempdir().context("no folder to keep state in")?) } else { None };
        let mut variables = vec![("AUTH".to_owned(), "true".to_owned())];
        variables.extend(kept.iter().flat_map(|folder| emulator::kept_in(folder.path())));
        let emulator = Emulator::start_with(emulator::Options {
            port: Some(port),
            functions_endpoint: Some(faults.as_ref().map_or(front, |faults| faults.endpoint.clone())),
            variables,
        })?;
        let stack = Self::deploy(emulator.endpoint.clone(), NAME, (Some(emulator), faults), options)?;
        Ok(Self { _kept: kept, limits, ..stack })
    }

    fn deploy(
        endpoint: String,
        name: &str,
        (emulator, faults): (Option<Emulator>, Option<Faults>),
        options: &StackOptions,
    ) -> Result<Self> {
        let guard = guard(emulator.as_ref(), faults.as_ref())?;
        let cloud = Cloud::new(&endpoint);
        let folder = tempfile::tempdir().context("no folder to deploy from")?;
        stage(folder.path(), options.probe)?;
        cloud.deploy(folder.path(), name, &parameters(options))?;
        let outputs = cloud.outputs(name)?;
        if emulator.is_some() {
            for (role, actions) in MISNAMED {
                cloud.allow(&cloud.physical_id(name, role)?, actions)?;
            }
        }
        let api = outputs.get("ApiId").context("the stack names no API")?;
        let mut client = Client::new(&format!("{endpoint}/_aws/execute-api/{api}/$default"));
        if let Some(faults) = &faults {
            client = client.past(&faults.endpoint, &endpoint);
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
            _kept: None,
        };
        stack.warm_proxy()?;
        Ok(stack)
    }

    /// Stops the emulator in the middle of whatever it is at, with all functions, and starts it again. A stack that was
    /// not started to persist is empty then.
    ///
    /// # Errors
    /// If the emulator is another's, does not stop or does not start.
    pub fn restart(&mut self) -> Result<()> {
        let emulator = self.emulator.as_mut().context("the emulator is not this stack's own")?;
        self.guard.take().into_iter().for_each(Guard::call_off);
        emulator.restart()?;
        self.guard = guard(self.emulator.as_ref(), self.faults.as_ref())?;
        Ok(())
    }

    /// The proxy reads the model of a service at the first call to it. On a busy machine that takes longer than a
    /// function has.
    fn warm_proxy(&self) -> Result<()> {
        let Some(faults) = &self.faults else { return Ok(()) };
        let aws = aws(&faults.endpoint);
        self.run(aws.dynamodb().describe_table().table_name(self.output("JobsTableName")?).send())?;
        self.run(aws.sqs().get_queue_attributes().queue_url(self.output("ChunkQueueUrl")?).send())?;
        self.run(aws.s3().head_bucket().bucket(self.output("BucketName")?).send())?;
        Ok(())
    }

    /// Whether the emulator is this process's own: its processes can be killed, its functions share our files.
    pub fn is_own(&self) -> bool {
        self.emulator.is_some()
    }

    /// Waits for a call of an SDK.
    pub fn run<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }

    /// The proxy before the functions.
    ///
    /// # Errors
    /// If the stack was started without one.
    pub fn faults(&self) -> Result<&Faults> {
        self.faults.as_ref().context("this stack has no fault proxy")
    }

    /// Calls of the functions that AWS would have refused for a limit, and that the proxy therefore refused.
    pub fn refusals(&self) -> Vec<String> {
        self.limits.as_ref().map(LimitsProxy::refusals).unwrap_or_default()
    }

    /// Number of the functions' calls that the proxy refused because of a conflict with a transaction.
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

    /// One output of the stack.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn output(&self, name: &str) -> Result<&str> {
        self.outputs.get(name).map(String::as_str).with_context(|| format!("the stack has no output {name}"))
    }

    /// Processes of a function that are alive, idle ones too.
    ///
    /// # Errors
    /// If the stack does not name the function.
    pub fn processes(&self, function_output: &str) -> Result<Vec<u32>> {
        let name = format!("AWS_LAMBDA_FUNCTION_NAME={}", self.output(function_output)?);
        Ok(self.emulator.as_ref().map(|emulator| emulator.process().children_with(&name)).unwrap_or_default())
    }

    /// What a function has logged so far.
    ///
    /// # Errors
    /// If the stack does not name the function, or it has never run.
    pub fn logs(&self, function_output: &str) -> Result<Vec<String>> {
        self.cloud.logs(&format!("/aws/lambda/{}", self.output(function_output)?))
    }

    /// The most memory in MiB that the emulator ever had, and the largest process of a function, as each says itself at
    /// the end of an invocation.
    ///
    /// # Errors
    /// If the emulator is another's.
    pub fn peak_memory_mib(&self) -> Result<(u64, u64)> {
        let emulator = self.emulator.as_ref().context("the emulator is not this stack's own")?;
        let output = emulator.output();
        let described = output.split("\"invocation.max_rss_kib\":").skip(1);
        let kib = described.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok());
        Ok((
            emulator.process().peak_memory_mib().context("the emulator's memory is not known")?,
            kib.max().unwrap_or(0) >> 10,
        ))
    }

    /// The end of what the emulator and the functions have written.
    pub fn log_tail(&self, lines: usize) -> String {
        let output = self.emulator.as_ref().map(Emulator::output).unwrap_or_default();
        let all: Vec<_> = output.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

fn guard(emulator: Option<&Emulator>, faults: Option<&Faults>) -> Result<Option<Guard>> {
    let processes: Vec<_> = emulator.map(Emulator::process).into_iter().chain(faults.map(Faults::process)).collect();
    if processes.is_empty() { Ok(None) } else { Guard::new(&processes).map(Some) }
}

fn parameters(options: &StackOptions) -> Vec<(String, String)> {
    let mut all: BTreeMap<&str, &str> = PARAMETERS.into_iter().collect();
    all.extend(options.parameters.iter().copied());
    all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
