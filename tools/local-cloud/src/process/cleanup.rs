//! Stops the processes that a test process has started, no matter how the test process ends.
//!
//! All tests of a process share a stack in a static, and statics are never dropped. A killed process drops nothing.
//! Therefore, a shell waits for the end of a pipe whose only writer is the test process.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::Process;

/// Waits for the end of the pipe, kills each process with its children, and removes each folder. Ignores Ctrl-C, which
/// the shell also receives.
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
    /// Starts the shell that will clean up these processes and their folders.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub fn new(processes: &[&Process]) -> Result<Self> {
        let ids: Vec<_> = processes.iter().map(|process| process.id().to_string()).collect();
        let folders = processes.iter().map(|process| process.scratch());
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "guard"])
            .args(&ids)
            .args(folders)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Self(shell.context("cannot run sh")?))
    }

    /// Cancels the cleanup. The processes keep running.
    pub fn call_off(mut self) {
        // Fails if the shell has already ended.
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
