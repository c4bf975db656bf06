//! Processes that outlive the command that started them, and their identification.
//!
//! A process id alone does not identify a process, because ids are reused. Its start time is stored too, and nothing
//! is signalled unless both still match.

use super::signal::{kill_group, terminate_group};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that a process gets to stop by itself before it is killed. It is short: our processes have nothing to save,
/// and the emulator would wait for its functions.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// The path of this program, for starting it again. On Linux this also works if the file was replaced meanwhile, as
/// `test` does when it builds the whole workspace.
pub fn this_program() -> Result<PathBuf> {
    let by_link = PathBuf::from("/proc/self/exe");
    if by_link.exists() { Ok(by_link) } else { Ok(std::env::current_exe()?) }
}

/// A background process of ours, leader of its own process group.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Background {
    /// Process id, and id of its process group.
    pub pid: u32,
    /// Start time in a system-specific unit, only compared for equality.
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
        match started(pid) {
            Some(started) => Ok(Self { pid, started }),
            None => bail!("{} ended at once: see {}", command.get_program().display(), log.display()),
        }
    }

    /// Returns true if this process is still running.
    pub fn is_alive(&self) -> bool {
        started(self.pid).as_ref() == Some(&self.started)
    }

    /// Asks the whole group to end, then kills it. Does nothing if it has ended.
    pub fn stop(&self) -> Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        terminate_group(self.pid)?;
        let deadline = Instant::now() + STOP_PATIENCE;
        while self.is_alive() && Instant::now() < deadline {
            sleep(Duration::from_millis(50));
        }
        // Also after a clean exit: children that ignored the first signal are still in the group.
        kill_group(self.pid)
    }
}

/// Start time of a living process. A zombie counts as dead, because it holds no port and no file.
fn started(pid: u32) -> Option<String> {
    if Path::new("/proc/self/stat").exists() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        started_from_stat(&stat)
    } else {
        started_from_ps(pid)
    }
}

/// Parses the fields after the last bracket: the second field, the name, may itself contain spaces and brackets.
fn started_from_stat(stat: &str) -> Option<String> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

fn started_from_ps(pid: u32) -> Option<String> {
    let output = Command::new("ps").args(["-o", "stat=,lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (stat, started) = text.trim().split_once(' ')?;
    (!stat.starts_with('Z')).then(|| started.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_is_read_behind_a_name_with_brackets_and_spaces() {
        let stat = "7 (a) (b c) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        assert_eq!(started_from_stat(stat).as_deref(), Some("4242"));
    }

    #[test]
    fn a_zombie_is_dead() {
        assert_eq!(started_from_stat("7 (x) Z 1 7 7 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 4242"), None);
    }

    #[test]
    fn stopping_ends_children_of_the_process_too() -> Result<()> {
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
        while started(child).is_some() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(started(child), None);
        assert!(!parent.is_alive());
        parent.stop()
    }
}
