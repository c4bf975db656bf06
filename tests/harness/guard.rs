//! Ends what a test process has started when that process ends, however it ends.
//!
//! A stack that all tests of a process share is a static, and statics are never dropped; a process that is killed drops
//! nothing at all. So a shell waits at the end of a pipe whose other end only this process holds.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::process::Process;

/// Waits for the pipe to close, then kills each process with its children and removes each folder. Deaf to Ctrl-C,
/// which the shell would hear as well.
const SCRIPT: &str = r#"trap '' INT TERM HUP
cat >/dev/null
for it do case $it in
  */*) rm -rf -- "$it" ;;
  *) for child in $(cat "/proc/$it"/task/*/children); do kill -9 "$child"; done; kill -9 "$it" ;;
esac; done 2>/dev/null"#;

/// Lives as long as this process or this value, whichever ends first.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// A guard over these processes and their folders.
    ///
    /// # Errors
    /// If there is no shell.
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

    /// From now on nothing is guarded: what it watched may end, or go on, by itself.
    pub fn call_off(mut self) {
        // One that is gone already does nothing either.
        let _ = self.0.kill();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It has done what it could; there is nobody to tell.
        let _ = self.0.wait();
    }
}
