//! Jobs and bare calls in turn, with the same batches and as many workers.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use hyper::body::Bytes;
use longshore::handler::Registry;
use longshore_domain::job::Source;
use longshore_testing::MemoryFiles;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::bare::{Bare, Batches};
use super::call_handler::Process;
use super::server::Handler;
use super::target::{JOB_TYPE, Kind, Target};
use crate::cases::upload;
use crate::job::{Measured, Request, WORKERS, in_threads, run_with, seconds, services};

/// Argument of the process that measures one setting.
pub(crate) const ARGUMENT: &str = "remote";

/// Number of items of a job.
pub(super) const ITEMS: u64 = 100_000;

/// Number of runs of a setting, after a first one that warms up.
pub(super) const RUNS: usize = 25;

/// What is measured.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Setting {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) handler: Handler,
    pub(super) workers: usize,
}

const fn setting(name: &'static str, kind: Kind, handler: Handler, workers: usize) -> Setting {
    Setting { name, kind, handler, workers }
}

/// All settings.
pub(super) const SETTINGS: [Setting; 6] = [
    setting("function", Kind::Function, Handler::Unread, 1),
    setting("function, 2 workers", Kind::Function, Handler::Unread, WORKERS),
    setting("endpoint", Kind::Endpoint, Handler::EachItem, 1),
    setting("endpoint, 2 workers", Kind::Endpoint, Handler::EachItem, WORKERS),
    setting("endpoint that reads nothing", Kind::Endpoint, Handler::Unread, 1),
    setting("endpoint that reads nothing, 2 workers", Kind::Endpoint, Handler::Unread, WORKERS),
];

/// The runs of a setting.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Runs {
    /// Calls of the handler in a job.
    pub(super) calls: u64,
    /// Bytes of all batches.
    pub(super) bytes: u64,
    pub(super) pairs: Vec<Pair>,
}

/// A job, and the bare calls that followed it.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(super) job: Measured,
    /// Time of the job's calls, over all workers.
    pub(super) in_calls_s: f64,
    pub(super) bare_s: f64,
}

/// Measures each setting in a new process of this program.
pub(crate) fn measure() -> Result<Vec<(Setting, Runs)>> {
    SETTINGS.into_iter().map(|setting| Ok((setting, in_process(setting)?))).collect()
}

fn in_process(setting: Setting) -> Result<Runs> {
    eprintln!("{}", setting.name);
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([ARGUMENT, setting.name]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process of {} failed", setting.name);
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Measures a setting in this process, and prints its runs as JSON.
pub(crate) fn run(name: &str) -> Result<()> {
    let setting = SETTINGS.into_iter().find(|setting| setting.name == name);
    let setting = setting.with_context(|| format!("there is no setting {name}"))?;
    serde_json::to_writer(std::io::stdout(), &Bench::new(setting)?.runs()?)?;
    Ok(())
}

/// The handler, and those who call it.
struct Bench {
    target: Target,
    processes: Vec<Process>,
    clients: Vec<Bare>,
    files: MemoryFiles,
    source: Source,
}

impl Bench {
    fn new(setting: Setting) -> Result<Self> {
        let target = Target::new(setting.kind, setting.handler)?;
        let processes = (0..setting.workers).map(|_| Process::new(&target)).collect::<Result<_>>()?;
        let clients = (0..setting.workers).map(|_| Bare::new(&target)).collect::<Result<_>>()?;
        let (files, source) = upload(ITEMS)?;
        Ok(Self { target, processes, clients, files, source })
    }

    fn runs(mut self) -> Result<Runs> {
        let mut pairs = Vec::new();
        let (mut calls, mut bytes) = (0, 0);
        for _ in 0..=RUNS {
            let job = self.job()?;
            let in_calls_s = self.processes.iter().map(Process::take_in_calls_s).sum();
            let batches: Vec<_> = self.target.server().take().into_iter().map(Bytes::from).collect();
            let bare_s = self.bare(&batches)?;
            let sent = self.target.server().take();
            ensure!(sent.len() == batches.len(), "{} batches of {} were sent", sent.len(), batches.len());
            (calls, bytes) = (batches.len() as u64, batches.iter().map(|batch| batch.len() as u64).sum());
            pairs.push(Pair { job, in_calls_s, bare_s });
        }
        pairs.remove(0);
        Ok(Runs { calls, bytes, pairs })
    }

    /// Runs a job.
    fn job(&self) -> Result<Measured> {
        let ports = services(self.files.clone());
        let request = Request {
            job_type: JOB_TYPE,
            source: self.source.clone(),
            options: json!({}),
            results: None,
            registration: Some(self.target.registration()?),
        };
        run_with(&ports, &Registry::default(), request, ITEMS, |chunks| {
            in_threads(self.processes.iter().collect(), |process| process.work(&ports, chunks))
        })
    }

    /// Sends the same batches without a job. Returns the seconds.
    fn bare(&mut self, batches: &[Bytes]) -> Result<f64> {
        let batches = Batches::new(batches);
        seconds(|| in_threads(self.clients.iter_mut().collect(), |client| client.send(&batches)))
    }
}

/// Returns the runtime of a process or of a client.
pub(super) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|error| anyhow!("there is no runtime: {error}"))
}
