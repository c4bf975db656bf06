//! An emulator of AWS on a free port, for one test.
//!
//! Functions inherit the emulator's environment, so that environment is almost empty: a variable that the template
//! lacks is missing here, as it would be on AWS.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::children::kill;
use super::process::{Process, free_port};

/// A running emulator. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Emulator {
    /// Base URL of the emulator, without a trailing slash.
    pub endpoint: String,
    process: Process,
    variables: Vec<(String, String)>,
}

/// Differences from the default emulator.
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

impl Emulator {
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
        let mut variables = vec![
            ("BIND_HOST".to_owned(), "127.0.0.1".to_owned()),
            ("GATEWAY_PORT".to_owned(), port.to_string()),
            ("AWS_ENDPOINT_URL".to_owned(), options.functions_endpoint.unwrap_or_else(|| endpoint.clone())),
            // The MQTT listener has a fixed port, which a second emulator could not bind.
            ("IOT_MTLS_ENABLED".to_owned(), "0".to_owned()),
        ];
        if site().is_dir() {
            variables.push(("PYTHONPATH".to_owned(), site().to_string_lossy().into_owned()));
        }
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

fn run(endpoint: &str, variables: &[(String, String)]) -> Result<Process> {
    Process::start("ministack", &[], variables.iter().cloned(), &format!("{endpoint}/_ministack/ready"))
}

/// Folder with the Python module that is loaded when the emulator starts.
fn site() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/local")
}
