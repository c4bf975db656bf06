//! A process that removes test data when a command ends: normally, with an error, or by Ctrl-C, a hangup or a kill.
//!
//! The process reads a pipe whose only writer is the command: messages with what was created, one JSON document per
//! line. At the end of the pipe it removes that. The test data has a unique name.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Serialize;

/// A running process. It starts the removal when this value is dropped or this process ends.
pub(crate) struct CleanupProcess(Child);

impl CleanupProcess {
    /// Starts the hidden subcommand of this name.
    pub(crate) fn start(name: &str) -> Result<Self> {
        let child = command(&this_program()?, name).spawn();
        Ok(Self(child.context("cannot start the process that removes the test data")?))
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let pipe = self.0.stdin.as_mut().context("the process that removes the test data has ended")?;
        // A single write, because a kill between two writes would leave half a line.
        let line = format!("{}\n", serde_json::to_string(message)?);
        pipe.write_all(line.as_bytes()).context("the process that removes the test data has ended")
    }

    /// Removes everything now. The process prints its removals and its errors. Returns false if something is left.
    pub(crate) fn run(mut self) -> Result<bool> {
        self.end()
    }

    fn end(&mut self) -> Result<bool> {
        drop(self.0.stdin.take());
        Ok(self.0.wait()?.success())
    }
}

impl Drop for CleanupProcess {
    fn drop(&mut self) {
        // The process has printed its own errors.
        let _ = self.end();
    }
}

/// Returns the command of the process: the subcommand `name` of this program.
///
/// The process has its own process group, so that Ctrl-C does not reach it. The shell ignores SIGHUP and SIGTTOU, and
/// `exec` keeps them ignored. SIGTTOU would stop a background process that writes to its terminal.
pub(crate) fn command(program: &Path, name: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP TTOU; exec \"$0\" \"$1\""]).arg(program).arg(name);
    command.stdin(Stdio::piped()).process_group(0);
    command
}

/// Returns a unique name for test data, such as a dataset.
pub(crate) fn unique_name(prefix: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default();
    format!("{prefix}-{now}-{}", std::process::id())
}

/// Returns the path of this program. On Linux, the path is valid even after the file was replaced.
fn this_program() -> Result<PathBuf> {
    let link = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if link.exists() { Ok(link) } else { Ok(std::env::current_exe()?) }
}
