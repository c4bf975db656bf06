//! A program from the tools' virtual environment. It is killed when its value is dropped.

use std::ffi::OsStr;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Maximum time until a program answers. A program needs a fraction of a second, but other tests run beside it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program. When this value is dropped, the program is killed and its scratch folder removed.
#[derive(Debug)]
pub struct Process {
    child: Child,
    scratch: PathBuf,
}

impl Process {
    /// Starts `program` of the virtual environment that `LONGSHORE_VENV` names, and waits until `ready` answers. The
    /// program's environment consists of these variables, `PATH`, `HOME` and `TMPDIR`.
    ///
    /// # Errors
    /// If there is no such program, or if it dies or does not answer within a minute. The error contains its output.
    pub fn start<I, A, B>(program: &str, arguments: &[&str], variables: I, ready: &str) -> Result<Self>
    where
        I: IntoIterator<Item = (A, B)>,
        A: AsRef<OsStr>,
        B: AsRef<OsStr>,
    {
        let venv = std::env::var_os("LONGSHORE_VENV")
            .context("LONGSHORE_VENV must name the tools' virtual environment; `cargo xtask test` sets it")?;
        let path = Path::new(&venv).join("bin").join(program);
        let scratch = std::env::temp_dir().join(format!("longshore-{program}-{}", free_port()?));
        std::fs::create_dir_all(&scratch)?;
        let log = scratch.join("log");
        let child = Command::new(&path)
            .args(arguments)
            .env_clear()
            .envs(["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .envs(variables)
            .env("TMPDIR", &scratch)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .spawn()
            .with_context(|| format!("cannot run {}", path.display()))?;
        let mut process = Self { child, scratch };
        process.wait_until_ready(program, ready)?;
        Ok(process)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The process's scratch folder.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Output so far.
    pub fn output(&self) -> String {
        std::fs::read(self.scratch.join("log")).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into())
    }

    /// Asks the process to end, and waits until it has.
    ///
    /// # Errors
    /// If it has not ended within a minute.
    pub fn stop(&mut self) -> Result<()> {
        let asked = Command::new("sh").args(["-c", "kill \"$0\"", &self.child.id().to_string()]).status()?;
        anyhow::ensure!(asked.success(), "process {} cannot be asked to end", self.child.id());
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                bail!("process {} does not end:\n{}", self.child.id(), self.output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn wait_until_ready(&mut self, program: &str, url: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !answers(url) {
            if let Some(status) = self.child.try_wait()? {
                bail!("{program} ended with {status}:\n{}", self.output());
            }
            if Instant::now() > deadline {
                bail!("{program} does not answer at {url}:\n{}", self.output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// A client that returns every status as a response, redirects included.
pub(super) fn agent() -> ureq::Agent {
    let timeout = Some(Duration::from_secs(30));
    ureq::Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(timeout)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}

/// A port without a listener at this moment.
///
/// # Errors
/// If no port is free.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

fn answers(url: &str) -> bool {
    agent().get(url).call().is_ok_and(|answer| !answer.status().is_server_error())
}
