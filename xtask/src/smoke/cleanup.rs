//! Removes the test data, even if this process has ended: a separate process waits for the end of a pipe.

use super::target::Target;
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// The waiting process. It removes everything that was registered when this value is dropped, or when this process
/// has ended.
pub(super) struct Cleanup(Child);

impl Cleanup {
    /// Starts the process. Must be called before anything is created.
    pub(super) fn post(target: &Target<'_>) -> Result<Self> {
        // Its own process group: Ctrl-C does not reach it.
        let child = target.cleanup().stdin(Stdio::piped()).process_group(0).spawn();
        let mut cleanup = Self(child.context("cannot start the process that cleans up")?);
        cleanup.deployment(target, None)?;
        Ok(cleanup)
    }

    /// Describes the deployment; the last call wins.
    pub(super) fn deployment(&mut self, target: &Target<'_>, token: Option<&str>) -> Result<()> {
        let claim = target.outputs.get("TenantClaim").map_or("sub", String::as_str);
        self.report(&json!({
            "api": target.api_url, "token": token, "tenantClaim": claim, "outputs": target.outputs,
        }))
    }

    /// Registers something for removal.
    pub(super) fn add(&mut self, kind: &str, id: &str) -> Result<()> {
        self.report(&json!({ kind: id }))
    }

    /// Removes everything now. The process prints what it removes.
    pub(super) fn run(mut self) -> Result<()> {
        if !self.end()? {
            bail!("not everything was removed: see above");
        }
        Ok(())
    }

    fn report(&mut self, line: &serde_json::Value) -> Result<()> {
        let pipe = self.0.stdin.as_mut().context("the process that cleans up has ended")?;
        // One write: if this process were killed between two, the other would read half a line.
        pipe.write_all(format!("{line}\n").as_bytes()).context("the process that cleans up has ended")
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
