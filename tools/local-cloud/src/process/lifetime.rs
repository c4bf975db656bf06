//! Processes that outlive the command that started them, and programs that are killed when their value is dropped.
//!
//! A background process is identified by its id and its start time, because ids are reused. A signal is sent only if
//! both still match.

use super::ready::{free_port, wait_until_ready};
use super::signal::{kill_group, terminate, terminate_group};
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time until a background process that does not stop is killed. It is short, because these processes have nothing to
/// save, and the emulator would wait for its functions.
const BACKGROUND_STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for the end of a program.
const PROGRAM_STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the path of this program. On Linux, the path is valid even after the file was replaced, as `test` does when
/// it builds the workspace.
pub fn this_program() -> Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { Ok(link) } else { Ok(std::env::current_exe()?) }
}

/// A background process. It is the leader of its own process group.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Background {
    /// Process id, and id of its process group.
    pub pid: u32,
    /// Start time in a system-specific unit.
    started: String,
}

impl Background {
    /// Starts `command` in its own process group, so that Ctrl-C does not reach it, with its output in `log`.
    pub fn spawn(command: &mut Command, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let pid = child.id();
        match start_time(pid) {
            Some(started) => Ok(Self { pid, started }),
            None => bail!("{} ended immediately: see {}", command.get_program().display(), log.display()),
        }
    }

    /// Returns true if this process is still running.
    pub fn is_alive(&self) -> bool {
        start_time(self.pid).as_ref() == Some(&self.started)
    }

    /// Terminates the process group, and kills it if it does not end. Does nothing if the process has ended.
    pub fn stop(&self) -> Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        terminate_group(self.pid)?;
        let deadline = Instant::now() + BACKGROUND_STOP_TIMEOUT;
        while self.is_alive() && Instant::now() < deadline {
            sleep(Duration::from_millis(50));
        }
        // Also if the process has ended: children that ignore SIGTERM are still in the group.
        kill_group(self.pid)
    }
}

/// Returns the start time of a running process. A zombie does not count as running, because it has no open ports or
/// files.
fn start_time(pid: u32) -> Option<String> {
    if Path::new("/proc/self/stat").exists() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        start_time_from_stat(&stat)
    } else {
        start_time_from_ps(pid)
    }
}

/// Parses the fields after the last bracket, because the second field, the name, can contain spaces and brackets.
fn start_time_from_stat(stat: &str) -> Option<String> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

fn start_time_from_ps(pid: u32) -> Option<String> {
    let output = Command::new("ps").args(["-o", "stat=,lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (stat, started) = text.trim().split_once(' ')?;
    (!stat.starts_with('Z')).then(|| started.trim().to_owned())
}

/// A running program from the tools' virtual environment. When this value is dropped, the program is killed and its
/// scratch folder is removed.
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
        let deadline = Instant::now() + PROGRAM_STOP_TIMEOUT;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_can_contain_brackets_and_spaces() {
        let stat = "7 (a) (b c) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        assert_eq!(start_time_from_stat(stat).as_deref(), Some("4242"));
    }

    #[test]
    fn a_zombie_is_not_running() {
        assert_eq!(start_time_from_stat("7 (x) Z 1 7 7 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 4242"), None);
    }

    #[test]
    fn stop_also_ends_the_children_of_a_process() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let log = dir.path().join("log");
        let parent = Background::spawn(Command::new("sh").args(["-c", "sleep 60 & echo $!; wait"]), &log)?;
        let child = loop {
            if let Ok(pid) = fs::read_to_string(&log)?.trim().parse::<u32>() {
                break pid;
            }
            std::thread::yield_now();
        };
        assert!(parent.is_alive());
        parent.stop()?;
        let deadline = Instant::now() + Duration::from_secs(10);
        while start_time(child).is_some() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(start_time(child), None);
        assert!(!parent.is_alive());
        parent.stop()
    }
}
