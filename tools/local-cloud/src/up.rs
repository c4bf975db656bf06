//! Starts, updates and stops the local stack.

use crate::emulator::{self, Emulator};
use crate::process::{Background, free_port, responds};
use crate::project::{Build, Project};
use crate::stack::Stack;
use crate::state::{self, State};
use crate::tools::{self, Tools};
use crate::{deploy, functions, local_proxy, users};
use anyhow::{Result, bail};
use longshore_cli::progress;
use std::fs;

/// Options of the stack.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// URL of an AWS emulator, such as LocalStack, to use instead of starting one.
    pub endpoint: Option<String>,
    /// Port of the API on 127.0.0.1; `None` for a free one.
    pub port: Option<u16>,
}

/// Starts or updates the stack. When this returns, the API responds at `api_url`.
pub fn bring_up(project: &Project, options: &Options) -> Result<State> {
    let tools = tools::ensure(project)?;
    let code = functions::build_all(project)?;
    let _lock = project.lock_stack()?;
    let mut state = state::read(project)?;
    if !is_reusable(&state, options) {
        stop(project, &state)?;
        state = State::default();
    }
    if state.emulator_url.is_empty() {
        start_emulator(project, &tools, options, &mut state)?;
    }
    let endpoint = state.emulator_url.clone();
    let stack = Stack { project, tools: &tools, endpoint: &endpoint };
    let outcome = deploy::bring_up_to_date(&stack, code, &mut state);
    // Even after a failure, because a part can be deployed.
    state::write(project, &state)?;
    outcome?;
    users::sign_in(&stack, &mut state)?;
    state::write(project, &state)?;
    start_local_proxy(project, options, &mut state)?;
    users::let_return(&stack, &state)?;
    Ok(state)
}

/// Returns true if the stack of `state` is still running, on the requested emulator.
fn is_reusable(state: &State, options: &Options) -> bool {
    let url = options.endpoint.as_deref().map(|url| url.trim_end_matches('/'));
    match (&state.emulator, url) {
        (Some(process), None) => process.is_alive(),
        (None, Some(url)) => state.emulator_url == url && responds(url),
        // An emulator that was passed once is used until `down`.
        (None, None) => !state.emulator_url.is_empty() && responds(&state.emulator_url),
        (Some(_), Some(_)) => false,
    }
}

fn start_emulator(project: &Project, tools: &Tools, options: &Options, state: &mut State) -> Result<()> {
    let remember = |emulator: &Emulator, state: &mut State| {
        state.emulator_url.clone_from(&emulator.url);
        state.emulator.clone_from(&emulator.process);
        state::write(project, state)
    };
    if let Some(url) = &options.endpoint {
        return remember(&emulator::attach(url)?, state);
    }
    emulator::start(project, tools, |emulator| remember(emulator, state))?;
    Ok(())
}

fn start_local_proxy(project: &Project, options: &Options, state: &mut State) -> Result<()> {
    let upstream = format!("{}/_aws/execute-api/{}/$default", state.emulator_url, state.output("ApiId")?);
    let port = local_proxy::port_of(&state.api_url);
    let requested_port = options.port.or(port);
    let is_running = state.local_proxy.as_ref().is_some_and(Background::is_alive);
    if !is_running || requested_port != port {
        let step = progress::step("Starting the local proxy");
        if let Some(proxy) = state.local_proxy.take() {
            proxy.stop()?;
        }
        let port = match requested_port {
            Some(port) => port,
            None => free_port()?,
        };
        state.local_proxy = Some(local_proxy::spawn(project, port, &upstream)?);
        state.api_url = format!("http://127.0.0.1:{port}");
        state.web_url.clone_from(&state.api_url);
        state::write(project, state)?;
        step.done_with(&state.api_url);
    }
    if !responds(&format!("{}{}", state.api_url, local_proxy::READY)) {
        bail!("the local proxy at {} does not respond: see .longshore/local-proxy.log", state.api_url);
    }
    Ok(())
}

/// Stops all stacks of this checkout: that of the dev build, and that of the benchmark. Succeeds if there is none.
pub fn take_down_all(project: &Project) -> Result<()> {
    let mut has_stack = false;
    for build in [Build::Dev, Build::Release] {
        has_stack |= take_down(&project.with(build))?;
    }
    if !has_stack {
        progress::note("No stack is running.");
    }
    Ok(())
}

/// Stops the processes that [`bring_up`] started. Keeps logs and tools. Returns false if there is no stack.
pub fn take_down(project: &Project) -> Result<bool> {
    let _lock = project.lock_stack()?;
    let state = state::read(project)?;
    let exists = !state.emulator_url.is_empty();
    if exists {
        stop(project, &state)?;
    }
    Ok(exists)
}

/// Stops the processes of `state` and removes the state. The caller holds the lock.
fn stop(project: &Project, state: &State) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_stack_of_the_benchmark_is_stopped_too() -> Result<()> {
        let root = tempfile::tempdir()?;
        let project = Project { root: root.path().to_owned(), build: Build::Dev };
        let release = project.with(Build::Release);
        let emulator = Background::spawn(Command::new("sleep").arg("60"), &release.log("emulator")?)?;
        let url = "http://127.0.0.1:9".to_owned();
        let state = State { emulator_url: url, emulator: Some(emulator.clone()), ..State::default() };
        state::write(&release, &state)?;
        take_down_all(&project)?;
        assert!(!emulator.is_alive());
        assert!(state::read(&release)?.emulator_url.is_empty());
        take_down_all(&project)
    }
}
