//! Cleanup of everything that a test process has started, for every way in which that process can end.
//!
//! All tests of a process share one stack in a static, and statics are never dropped. A killed process drops nothing
//! at all. So a shell waits at one end of a pipe, and only this process holds the other end.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::Process;

/// Waits for the pipe to close, then kills each process with its children and removes each folder. The script ignores
/// Ctrl-C, which the shell would receive as well.
const SCRIPT: &str = r#"trap '' INT TERM HUP
cat >/dev/null
for it do case $it in
  */*) rm -rf -- "$it" ;;
  *) for child in $(cat "/proc/$it"/task/*/children); do kill -9 "$child"; done; kill -9 "$it" ;;
esac; done 2>/dev/null"#;

/// Cleanup that runs when this process ends or this value is dropped, whichever is first.
#[derive(Debug)]
pub struct Cleanup(Child);

impl Cleanup {
    /// Sets up the cleanup of these processes and their folders.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub fn new(watched: &[&Process]) -> Result<Self> {
        let processes: Vec<_> = watched.iter().map(|process| process.id().to_string()).collect();
        let folders = watched.iter().map(|process| process.scratch());
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "guard"])
            .args(&processes)
            .args(folders)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Self(shell.context("cannot run sh")?))
    }

    /// Cancels the cleanup: the watched processes keep running.
    pub fn call_off(mut self) {
        // The shell may have ended already.
        let _ = self.0.kill();
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Errors cannot be reported from here.
        let _ = self.0.wait();
    }
}
