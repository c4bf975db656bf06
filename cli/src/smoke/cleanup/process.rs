//! The test's end of the pipe.

use super::message::{Deployment, Kind, Message};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Name of the hidden command.
const NAME: &str = "smoke-cleanup";

/// The process that removes the test data. It starts the removal when this value is dropped or this process ends.
pub struct Cleanup(Child);

impl Cleanup {
    /// Starts the process. Must be called before the test creates anything.
    pub(in crate::smoke) fn start(deployment: Deployment) -> Result<Self> {
        let child = command(&this_program()?).spawn().context("cannot start the process that removes the test data")?;
        let mut cleanup = Self(child);
        cleanup.deployment(deployment)?;
        Ok(cleanup)
    }

    /// Sends the deployment; the last call wins.
    pub(in crate::smoke) fn deployment(&mut self, deployment: Deployment) -> Result<()> {
        self.send(&Message::Deployment(deployment))
    }

    /// Registers something for removal.
    pub(in crate::smoke) fn add(&mut self, kind: Kind, id: &str) -> Result<()> {
        self.send(&Message::Resource(kind, id.to_owned()))
    }

    /// Removes everything now. The process prints each removal.
    pub(in crate::smoke) fn run(mut self) -> Result<()> {
        if !self.end()? {
            bail!("not all test data could be removed: see above");
        }
        Ok(())
    }

    fn send(&mut self, message: &Message) -> Result<()> {
        let pipe = self.0.stdin.as_mut().context("the process that removes the test data has ended")?;
        // A single write, because a kill between two writes would leave half a line.
        let line = format!("{}\n", serde_json::to_string(message)?);
        pipe.write_all(line.as_bytes()).context("the process that removes the test data has ended")
    }

    fn end(&mut self) -> Result<bool> {
        drop(self.0.stdin.take());
        Ok(self.0.wait()?.success())
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // The process has printed its own errors.
        let _ = self.end();
    }
}

/// Returns the command of the process. It reads messages from a pipe.
///
/// The process has its own process group, so that Ctrl-C does not reach it. The shell ignores SIGHUP and SIGTTOU, and
/// `exec` keeps them ignored. SIGTTOU would stop a background process that writes to its terminal.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP TTOU; exec \"$0\" \"$1\""]).arg(program).arg(NAME);
    command.stdin(Stdio::piped()).process_group(0);
    command
}

/// Returns the path of this program. On Linux, the path is valid even after the file was replaced.
fn this_program() -> Result<PathBuf> {
    let link = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if link.exists() { Ok(link) } else { Ok(std::env::current_exe()?) }
}
