//! A program from the tools' virtual environment. It is killed when its value is dropped.

use super::ready::{free_port, wait_until_ready};
use super::signal::terminate;
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Timeout for the end of a program.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// A running program. When this value is dropped, the program is killed and its scratch folder is removed.
#[derive(Debug)]
pub struct Process {
    child: Child,
    scratch: PathBuf,
}

impl Process {
    /// Starts `program` of the virtual environment in `LONGSHORE_VENV`, and waits until the URL `ready` responds. The
    /// program inherits only the variables for finding programs and files.
    ///
    /// # Errors
    /// If the program does not exist, ends, or does not respond within a minute. The error contains its output.
    pub fn start<I, A, B>(program: &str, arguments: &[&str], variables: I, ready: &str) -> Result<Self>
    where
        I: IntoIterator<Item = (A, B)>,
        A: AsRef<OsStr>,
        B: AsRef<OsStr>,
    {
        let scratch = std::env::temp_dir().join(format!("longshore-{program}-{}", free_port()?));
        fs::create_dir_all(&scratch)?;
        let log = scratch.join("log");
        let child = Tools::from_env()?
            .command(program)
            .args(arguments)
            .envs(variables)
            .env("TMPDIR", &scratch)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .spawn()
            .with_context(|| format!("cannot run {program}"))?;
        let mut process = Self { child, scratch };
        let started = wait_until_ready(ready, || process.check());
        started.with_context(|| format!("{program} did not start:\n{}", process.output()))?;
        Ok(process)
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the scratch folder of the process.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Returns the output so far.
    pub fn output(&self) -> String {
        fs::read(self.scratch.join("log")).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into())
    }

    /// Terminates the process and waits until it has ended.
    ///
    /// # Errors
    /// If it has not ended within a minute.
    pub fn stop(&mut self) -> Result<()> {
        terminate(self.child.id())?;
        let deadline = Instant::now() + STOP_TIMEOUT;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                bail!("process {} did not end:\n{}", self.child.id(), self.output());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the running child processes.
    pub fn children(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| parent(*id) == Some(self.id())).collect()
    }

    /// Returns the running child processes that have this variable, `NAME=value`, in their environment.
    pub fn children_with(&self, variable: &str) -> Vec<u32> {
        self.children().into_iter().filter(|id| has_variable(*id, variable)).collect()
    }

    /// Returns the peak memory of the process in MiB.
    pub fn peak_memory_mib(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        peak.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib >> 10)
    }

    fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("ended with {status}"),
            None => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Returns the id of the parent process: the second field after the name, which can contain spaces and brackets.
/// Returns `None` for a zombie.
fn parent(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" { None } else { fields.next()?.parse().ok() }
}

fn has_variable(id: u32, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|line| line == variable.as_bytes())
}
