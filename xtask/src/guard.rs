//! Stops the stack when the command that started it ends for any reason: Ctrl-C, a panic, a kill.
//!
//! The guard is a separate process, in a process group that Ctrl-C does not reach. It reads from a pipe whose only
//! writer is the guarded command. The pipe ends with the command; then the guard stops the stack.

use crate::project::{Build, Project};
use crate::{down, process};
use anyhow::{Context, Result};
use std::io::{Read, Write, stdin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Message that tells the guard to leave the stack running.
const KEEP: &str = "keep";

/// Options of the hidden command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Guard the benchmark's stack
    #[arg(long)]
    release: bool,
}

/// Guarantees that the stack is stopped. Dropping the guard stops the stack and waits for it.
pub(crate) struct Guard {
    process: Child,
}

/// Starts a guard. Must be called before anything else is started.
pub(crate) fn post(project: &Project) -> Result<Guard> {
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
    pub(crate) fn keep(mut self) -> Result<()> {
        if let Some(pipe) = &mut self.process.stdin {
            pipe.write_all(KEEP.as_bytes())?;
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // The guard has already reported its own failure.
        let _ = self.process.wait();
    }
}

/// Runs the guard process.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let build = if options.release { Build::Release } else { Build::Dev };
    let mut reported = String::new();
    stdin().read_to_string(&mut reported)?;
    if reported == KEEP { Ok(()) } else { down::run(&project.with(build)) }
}
