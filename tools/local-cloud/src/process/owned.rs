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

/// Maximum time until a program has ended.
const STOP_PATIENCE: Duration = Duration::from_secs(60);

/// A running program. When this value is dropped, the program is killed and its scratch folder removed.
#[derive(Debug)]
pub struct Process {
    child: Child,
    scratch: PathBuf,
}

impl Process {
    /// Starts `program` of the virtual environment that `LONGSHORE_VENV` names, and waits until `ready` answers. The
    /// program inherits only the variables for finding programs and files.
    ///
    /// # Errors
    /// If there is no such program, or if it dies or does not answer within a minute. The error contains its output.
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
        started.with_context(|| format!("{program} does not start:\n{}", process.output()))?;
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
        fs::read(self.scratch.join("log")).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into())
    }

    /// Asks the process to end, and waits until it has.
    ///
    /// # Errors
    /// If it has not ended within a minute.
    pub fn stop(&mut self) -> Result<()> {
        terminate(self.child.id())?;
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                bail!("process {} does not end:\n{}", self.child.id(), self.output());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Living child processes.
    pub fn children(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| parent(*id) == Some(self.id())).collect()
    }

    /// Living child processes that have this line, `NAME=value`, in their environment.
    pub fn children_with(&self, variable: &str) -> Vec<u32> {
        self.children().into_iter().filter(|id| has(*id, variable)).collect()
    }

    /// Peak memory of the process in MiB.
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
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// The parent's process id: the second field after the name, which may itself contain spaces and brackets. A zombie
/// has no parent here.
fn parent(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" { None } else { fields.next()?.parse().ok() }
}

fn has(id: u32, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|line| line == variable.as_bytes())
}
