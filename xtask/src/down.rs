//! `down`: stops what `up` started, and nothing else. Logs and tools are kept.

use crate::process::Background;
use crate::progress;
use crate::project::Project;
use crate::state::{self, State};
use anyhow::Result;
use std::fs;

/// Runs the command. Succeeds if there is no stack.
pub(crate) fn run(project: &Project) -> Result<()> {
    let _lock = project.lock_stack()?;
    let state = state::read(project)?;
    if state.emulator_url.is_empty() {
        eprintln!("Nothing is running.");
        return Ok(());
    }
    stop(project, &state)
}

/// Stops the processes of `state` and removes the state. The caller holds the lock.
pub(crate) fn stop(project: &Project, state: &State) -> Result<()> {
    let running = [&state.local_proxy, &state.emulator];
    let running: Vec<&Background> = running.into_iter().flatten().collect();
    if running.iter().any(|process| process.is_alive()) {
        let step = progress::step("Stopping the local stack");
        for process in running {
            process.stop()?;
        }
        step.done();
    }
    let scratch = project.state_dir()?.join("tmp");
    if scratch.exists() && state.emulator.is_some() {
        fs::remove_dir_all(scratch)?;
    }
    state::remove(project)
}
