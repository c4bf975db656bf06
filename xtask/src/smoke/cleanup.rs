//! Removes what was made, also when this process is gone: a process of its own waits for the end of a pipe.

use super::target::Target;
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// The waiting process. It removes what it was told of when this is dropped, or this process has ended.
pub(super) struct Cleanup(Child);

impl Cleanup {
    /// Starts it, before anything is made.
    pub(super) fn post(target: &Target<'_>) -> Result<Self> {
        // A group of its own: Ctrl-C does not reach it.
        let child = target.cleanup().stdin(Stdio::piped()).process_group(0).spawn();
        let mut cleanup = Self(child.context("cannot start the process that cleans up")?);
        cleanup.deployment(target, None)?;
        Ok(cleanup)
    }

    /// Says how the deployment is called; the last word holds.
    pub(super) fn deployment(&mut self, target: &Target<'_>, token: Option<&str>) -> Result<()> {
        let claim = target.outputs.get("TenantClaim").map_or("sub", String::as_str);
        self.tell(&json!({
            "api": target.api_url, "token": token, "tenantClaim": claim, "outputs": target.outputs,
        }))
    }

    /// Names something that is to be removed.
    pub(super) fn add(&mut self, kind: &str, id: &str) -> Result<()> {
        self.tell(&json!({ kind: id }))
    }

    /// Removes all of it now. It says itself what it removes.
    pub(super) fn run(mut self) -> Result<()> {
        if !self.end()? {
            bail!("not everything was removed: see above");
        }
        Ok(())
    }

    fn tell(&mut self, line: &serde_json::Value) -> Result<()> {
        let pipe = self.0.stdin.as_mut().context("the process that cleans up has ended")?;
        // By one write: were this process killed between two, the other would read half a line.
        pipe.write_all(format!("{line}\n").as_bytes()).context("the process that cleans up has ended")
    }

    fn end(&mut self) -> Result<bool> {
        drop(self.0.stdin.take());
        Ok(self.0.wait()?.success())
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // It has said itself what failed.
        let _ = self.end();
    }
}
