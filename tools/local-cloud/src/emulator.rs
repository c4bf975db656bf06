//! The local AWS: starts MiniStack, or attaches to a running one.
//!
//! Functions inherit the emulator's environment, so MiniStack starts with an almost empty one. A variable that is
//! missing in the template is then missing here, as on AWS.

use crate::process::{Background, Process, answers, free_port, kill, wait_until_ready};
use crate::project::{Project, checkout};
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use longshore_cli::progress;
use std::fs;
use std::path::Path;

/// A running emulator that outlives the command that started it.
pub struct Emulator {
    /// Endpoint, without a trailing slash.
    pub url: String,
    /// Process; `None` if the emulator was already running.
    pub process: Option<Background>,
}

/// Starts MiniStack on a free port and waits until it answers. Calls `started` as soon as the process exists.
pub fn start(project: &Project, tools: &Tools, started: impl FnOnce(&Emulator) -> Result<()>) -> Result<Emulator> {
    let step = progress::step("Starting the local AWS");
    let port = free_port()?;
    let url = format!("http://127.0.0.1:{port}");
    // Functions are unpacked here, where `down` finds and removes them.
    let scratch = project.state_dir()?.join("tmp");
    fs::create_dir_all(&scratch)?;
    let log = project.log("emulator")?;
    let mut command = tools.command("ministack");
    command.envs(variables(port, &url)).env("PYTHONDONTWRITEBYTECODE", "1").env("TMPDIR", &scratch);
    let process = Background::spawn(&mut command, &log)?;
    let emulator = Emulator { url, process: Some(process.clone()) };
    started(&emulator)?;
    let check = || if process.is_alive() { Ok(()) } else { bail!("died") };
    wait_until_ready(&ready(&emulator.url), check)
        .with_context(|| format!("the emulator does not start. The end of {}:\n{}", log.display(), tail(&log, 20)))?;
    step.done_with(&emulator.url);
    Ok(emulator)
}

/// Attaches to an emulator that the caller runs.
pub fn attach(url: &str) -> Result<Emulator> {
    let url = url.trim_end_matches('/').to_owned();
    if !answers(&url) {
        bail!("no emulator answers at {url}: start it first, or leave --endpoint out and one is started for you");
    }
    Ok(Emulator { url, process: None })
}

/// An emulator for a test. It is killed when this value is dropped.
#[derive(Debug)]
pub struct OwnedEmulator {
    /// Base URL of the emulator, without a trailing slash.
    pub endpoint: String,
    process: Process,
    variables: Vec<(String, String)>,
}

/// Differences of an owned emulator from the default.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Options {
    /// Port of the emulator. `None` picks a free one.
    pub port: Option<u16>,
    /// Endpoint at which functions reach AWS; `None` is the emulator itself. A proxy there injects faults that only
    /// functions see.
    pub functions_endpoint: Option<String>,
    /// Additional environment variables.
    pub variables: Vec<(String, String)>,
}

impl OwnedEmulator {
    /// Starts the default emulator.
    ///
    /// # Errors
    /// If it does not start. The error contains its output.
    pub fn start() -> Result<Self> {
        Self::start_with(Options::default())
    }

    /// Starts an emulator with these options.
    ///
    /// # Errors
    /// If it does not start. The error contains its output.
    pub fn start_with(options: Options) -> Result<Self> {
        let port = options.port.map_or_else(free_port, Ok)?;
        let endpoint = format!("http://127.0.0.1:{port}");
        let mut variables = variables(port, options.functions_endpoint.as_ref().unwrap_or(&endpoint));
        variables.extend(options.variables);
        let process = run(&endpoint, &variables)?;
        Ok(Self { endpoint, process, variables })
    }

    /// Stops the emulator while functions are at work, as the shutdown of a machine does, and starts it again on the
    /// same port. Its environment variables determine the state that survives.
    ///
    /// # Errors
    /// If it does not stop within a minute, or does not start.
    pub fn restart(&mut self) -> Result<()> {
        let functions = self.process.children();
        self.process.stop()?;
        // Without the runtime API the functions would wait indefinitely.
        functions.into_iter().for_each(|function| drop(kill(function)));
        self.process = run(&self.endpoint, &self.variables)?;
        Ok(())
    }

    /// The emulator's process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Output so far, including that of functions.
    pub fn output(&self) -> String {
        self.process.output()
    }
}

/// Environment variables with which an emulator saves its state in a folder when it is stopped.
pub fn kept_in(folder: &Path) -> Vec<(String, String)> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let variables = [("PERSIST_STATE", "1".to_owned()), ("STATE_DIR", path("state"))];
    let objects = [("S3_PERSIST", "1".to_owned()), ("S3_DATA_DIR", path("objects"))];
    variables.into_iter().chain(objects).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the last lines of a log.
pub fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    let last = all.len().saturating_sub(lines);
    all.get(last..).unwrap_or_default().join("\n")
}

fn run(endpoint: &str, variables: &[(String, String)]) -> Result<Process> {
    Process::start("ministack", &[], variables.iter().cloned(), &ready(endpoint))
}

fn ready(endpoint: &str) -> String {
    format!("{endpoint}/_ministack/ready")
}

/// The environment of every emulator. `functions_endpoint` is where functions reach AWS.
fn variables(port: u16, functions_endpoint: &str) -> Vec<(String, String)> {
    let site = checkout().join("infra/local").to_string_lossy().into_owned();
    let variables = [
        ("BIND_HOST", "127.0.0.1".to_owned()),
        ("GATEWAY_PORT", port.to_string()),
        ("AWS_ENDPOINT_URL", functions_endpoint.to_owned()),
        // The MQTT listener has a fixed port, which would conflict with a second emulator.
        ("IOT_MTLS_ENABLED", "0".to_owned()),
        // Folder with the Python module that is loaded when the emulator starts.
        ("PYTHONPATH", site),
    ];
    variables.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
