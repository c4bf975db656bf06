//! The AWS emulator: starts MiniStack, or attaches to a running emulator.
//!
//! Functions inherit the emulator's environment, so MiniStack starts with an almost empty one. A variable that the
//! template does not set is then missing, as on AWS.

use crate::process::{Background, Process, free_port, kill, responds, wait_until_ready};
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

/// Starts MiniStack on a free port and waits until it responds. Calls `on_start` as soon as the process exists.
pub fn start(project: &Project, tools: &Tools, on_start: impl FnOnce(&Emulator) -> Result<()>) -> Result<Emulator> {
    let step = progress::step("Starting the AWS emulator");
    let port = free_port()?;
    let url = format!("http://127.0.0.1:{port}");
    // The emulator unpacks functions into this folder, which `down` removes.
    let scratch = project.state_dir()?.join("tmp");
    fs::create_dir_all(&scratch)?;
    let log = project.log("emulator")?;
    let mut command = tools.command("ministack");
    command.envs(variables(port, &url)).env("PYTHONDONTWRITEBYTECODE", "1").env("TMPDIR", &scratch);
    let process = Background::spawn(&mut command, &log)?;
    let emulator = Emulator { url, process: Some(process.clone()) };
    on_start(&emulator)?;
    let check = || if process.is_alive() { Ok(()) } else { bail!("the process has ended") };
    wait_until_ready(&ready(&emulator.url), check).with_context(|| {
        format!("the emulator did not start. The last lines of {}:\n{}", log.display(), tail(&log, 20))
    })?;
    step.done_with(&emulator.url);
    Ok(emulator)
}

/// Attaches to a running emulator.
pub fn attach(url: &str) -> Result<Emulator> {
    let url = url.trim_end_matches('/').to_owned();
    if !responds(&url) {
        bail!("no emulator responds at {url}: start it first, or omit --endpoint to start one");
    }
    Ok(Emulator { url, process: None })
}

/// An emulator of a test. It is killed when this value is dropped.
#[derive(Debug)]
pub struct OwnedEmulator {
    /// Base URL of the emulator, without a trailing slash.
    pub endpoint: String,
    process: Process,
    variables: Vec<(String, String)>,
}

/// Options of an owned emulator.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Options {
    /// Port of the emulator; `None` for a free one.
    pub port: Option<u16>,
    /// AWS endpoint of the functions; `None` for the emulator itself. A proxy can be used to inject faults that only
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

    /// Stops the emulator and kills its functions, as the shutdown of a machine does, and starts it again on the same
    /// port. The environment variables determine which state is kept.
    ///
    /// # Errors
    /// If it does not stop within a minute, or does not start.
    pub fn restart(&mut self) -> Result<()> {
        let functions = self.process.children();
        self.process.stop()?;
        // Without the runtime API, the functions would wait forever.
        functions.into_iter().for_each(|function| drop(kill(function)));
        self.process = run(&self.endpoint, &self.variables)?;
        Ok(())
    }

    /// Returns the emulator's process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Returns the output so far, including that of functions.
    pub fn output(&self) -> String {
        self.process.output()
    }
}

/// Returns environment variables with which an emulator saves its state to a folder when it stops.
pub fn kept_in(folder: &Path) -> Vec<(String, String)> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let variables = [("PERSIST_STATE", "1".to_owned()), ("STATE_DIR", path("state"))];
    let objects = [("S3_PERSIST", "1".to_owned()), ("S3_DATA_DIR", path("objects"))];
    variables.into_iter().chain(objects).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the last lines of a log.
pub fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let all_lines: Vec<&str> = text.lines().collect();
    let start = all_lines.len().saturating_sub(lines);
    all_lines.get(start..).unwrap_or_default().join("\n")
}

fn run(endpoint: &str, variables: &[(String, String)]) -> Result<Process> {
    Process::start("ministack", &[], variables.iter().cloned(), &ready(endpoint))
}

fn ready(endpoint: &str) -> String {
    format!("{endpoint}/_ministack/ready")
}

/// Returns the environment of an emulator. `functions_endpoint` is the AWS endpoint of its functions.
fn variables(port: u16, functions_endpoint: &str) -> Vec<(String, String)> {
    let site = checkout().join("infra/local").to_string_lossy().into_owned();
    let variables = [
        ("BIND_HOST", "127.0.0.1".to_owned()),
        ("GATEWAY_PORT", port.to_string()),
        ("AWS_ENDPOINT_URL", functions_endpoint.to_owned()),
        // The MQTT listener has a fixed port; two emulators would conflict.
        ("IOT_MTLS_ENABLED", "0".to_owned()),
        // Folder of sitecustomize.py, which Python loads when the emulator starts.
        ("PYTHONPATH", site),
    ];
    variables.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
