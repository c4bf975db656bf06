//! The test's end of the pipe.

use super::message::{Deployment, Kind, Message};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Name of the hidden command.
const NAME: &str = "smoke-cleanup";

/// The waiting process. It removes everything that was registered when this value is dropped, or when this process
/// has ended.
pub struct Cleanup(Child);

impl Cleanup {
    /// Starts the process. Must be called before anything is created.
    pub(in crate::smoke) fn start(deployment: Deployment) -> Result<Self> {
        let child = command(&this_program()?).spawn().context("cannot start the process that cleans up")?;
        let mut cleanup = Self(child);
        cleanup.deployment(deployment)?;
        Ok(cleanup)
    }

    /// Describes the deployment; the last call wins.
    pub(in crate::smoke) fn deployment(&mut self, deployment: Deployment) -> Result<()> {
        self.send(&Message::Deployment(deployment))
    }

    /// Registers something for removal.
    pub(in crate::smoke) fn add(&mut self, kind: Kind, id: &str) -> Result<()> {
        self.send(&Message::Made(kind, id.to_owned()))
    }

    /// Removes everything now. The process prints what it removes.
    pub(in crate::smoke) fn run(mut self) -> Result<()> {
        if !self.end()? {
            bail!("not everything was removed: see above");
        }
        Ok(())
    }

    fn send(&mut self, message: &Message) -> Result<()> {
        let pipe = self.0.stdin.as_mut().context("the process that cleans up has ended")?;
        // One write: if this process were killed between two, the other would read half a line.
        let line = format!("{}\n", serde_json::to_string(message)?);
        pipe.write_all(line.as_bytes()).context("the process that cleans up has ended")
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

/// Builds the command of the process, which reads its messages from a pipe.
///
/// Its process group is its own, so that Ctrl-C does not reach it. The shell in front makes it ignore a hangup, and
/// the stop of a background process that writes to its terminal: an ignored signal stays ignored by what a shell
/// becomes.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP TTOU; exec \"$0\" \"$1\""]).arg(program).arg(NAME);
    command.stdin(Stdio::piped()).process_group(0);
    command
}

/// The path of this program. On Linux it also works if the file was replaced meanwhile.
fn this_program() -> Result<PathBuf> {
    let by_id = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if by_id.exists() { Ok(by_id) } else { Ok(std::env::current_exe()?) }
}
