//! Takes the stack down when the command that brought it up ends, however it ends: Ctrl-C, a panic, a kill.
//!
//! The guard is a process of its own, in a process group that Ctrl-C does not reach, and it reads from a pipe that
//! only the guarded command holds. When the command is gone the pipe ends; then the guard stops the stack.

use crate::project::{Build, Project};
use crate::{down, process};
use anyhow::{Context, Result};
use std::io::{Read, Write, stdin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// What the command says to leave the stack running.
const KEEP: &str = "keep";

/// How the hidden command is started.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Guard the benchmark's stack
    #[arg(long)]
    release: bool,
}

/// While it lives, the stack's end is certain. Dropping it stops the stack and waits for that.
pub(crate) struct Guard {
    process: Child,
}

/// Posts a guard. To be done before anything is started.
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
    /// Sends the guard away; the stack goes on running.
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
        // Nothing is to be done if it failed: it has said so itself.
        let _ = self.process.wait();
    }
}

/// The guard's own life.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let build = if options.release { Build::Release } else { Build::Dev };
    let mut reported = String::new();
    stdin().read_to_string(&mut reported)?;
    if reported == KEEP { Ok(()) } else { down::run(&project.with(build)) }
}
