//! Stops the stack when the command that started it ends, even by Ctrl-C, a panic or a kill.
//!
//! The guard is a separate process in its own process group, which Ctrl-C does not reach. It reads a pipe whose only
//! writer is the guarded command. When the command ends, the pipe ends, and the guard stops the stack.

use crate::process;
use crate::project::{Build, Project};
use crate::up;
use anyhow::{Context, Result};
use std::io::{Read, Write, stdin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Message that tells the guard to leave the stack running.
const KEEP: &str = "keep";

/// A guard. Dropping it stops the stack and waits until it has stopped.
pub struct Guard {
    process: Child,
}

/// Starts a guard. Must be called before the stack is started.
pub fn post(project: &Project) -> Result<Guard> {
    let process = Command::new(process::this_program()?)
        .arg("guard")
        .args((project.build == Build::Release).then_some("--release"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot start the guard process")?;
    Ok(Guard { process })
}

impl Guard {
    /// Ends the guard; the stack keeps running.
    pub fn keep(mut self) -> Result<()> {
        if let Some(pipe) = &mut self.process.stdin {
            pipe.write_all(KEEP.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // The guard itself reports errors.
        let _ = self.process.wait();
    }
}

/// Runs the guard process, for the stack of this build.
pub fn run(project: &Project, build: Build) -> Result<()> {
    let mut message = String::new();
    stdin().read_to_string(&mut message)?;
    if message != KEEP {
        up::take_down(&project.with(build))?;
    }
    Ok(())
}
