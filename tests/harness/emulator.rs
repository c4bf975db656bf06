//! An emulator of AWS on a free port, for one test.
//!
//! Functions inherit its environment, so it gets an almost empty one: a variable that the template forgot is missing
//! here as it would be on AWS.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::children::kill;
use super::process::{Process, free_port};

/// A running emulator; it is killed when this is dropped.
#[derive(Debug)]
pub struct Emulator {
    /// Where it answers, without a slash at the end.
    pub endpoint: String,
    process: Process,
    variables: Vec<(String, String)>,
}

/// How an emulator differs from the usual one.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Options {
    /// Its port; a free one if none.
    pub port: Option<u16>,
    /// Where functions find AWS; the emulator itself if none. A proxy there makes faults that only they see.
    pub functions_endpoint: Option<String>,
    /// More variables of its environment.
    pub variables: Vec<(String, String)>,
}

impl Emulator {
    /// The usual emulator.
    ///
    /// # Errors
    /// If it does not start; its output is in the error.
    pub fn start() -> Result<Self> {
        Self::start_with(Options::default())
    }

    /// An emulator that differs from the usual one.
    ///
    /// # Errors
    /// If it does not start; its output is in the error.
    pub fn start_with(options: Options) -> Result<Self> {
        let port = options.port.map_or_else(free_port, Ok)?;
        let endpoint = format!("http://127.0.0.1:{port}");
        let mut variables = vec![
            ("BIND_HOST".to_owned(), "127.0.0.1".to_owned()),
            ("GATEWAY_PORT".to_owned(), port.to_string()),
            ("AWS_ENDPOINT_URL".to_owned(), options.functions_endpoint.unwrap_or_else(|| endpoint.clone())),
            // Its MQTT listener has a fixed port, which a second emulator could not have.
            ("IOT_MTLS_ENABLED".to_owned(), "0".to_owned()),
        ];
        if site().is_dir() {
            variables.push(("PYTHONPATH".to_owned(), site().to_string_lossy().into_owned()));
        }
        variables.extend(options.variables);
        let process = run(&endpoint, &variables)?;
        Ok(Self { endpoint, process, variables })
    }

    /// Stops it as a machine is shut down, with whatever its functions are at, and starts it again where it was. What it
    /// keeps beyond that is a matter of its variables.
    ///
    /// # Errors
    /// If it does not stop in a minute, or does not start.
    pub fn restart(&mut self) -> Result<()> {
        let functions = self.process.children();
        self.process.stop()?;
        // Without their runtime's API they would wait for nobody.
        functions.into_iter().for_each(|function| drop(kill(function)));
        self.process = run(&self.endpoint, &self.variables)?;
        Ok(())
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// What it has written so far: the output of functions, too.
    pub fn output(&self) -> String {
        self.process.output()
    }
}

/// Variables with which an emulator keeps its state in a folder when it is asked to end.
pub fn kept_in(folder: &Path) -> Vec<(String, String)> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let variables = [("PERSIST_STATE", "1".to_owned()), ("STATE_DIR", path("state"))];
    let objects = [("S3_PERSIST", "1".to_owned()), ("S3_DATA_DIR", path("objects"))];
    variables.into_iter().chain(objects).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn run(endpoint: &str, variables: &[(String, String)]) -> Result<Process> {
    Process::start("ministack", &[], variables.iter().cloned(), &format!("{endpoint}/_ministack/ready"))
}

/// What Python loads when the emulator starts.
fn site() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/local")
}
