//! `up`: starts the stack from a fresh clone, or updates a running stack with what has changed.

use crate::emulator::{self, Emulator};
use crate::functions;
use crate::local_proxy;
use crate::progress;
use crate::project::Project;
use crate::stack::Stack;
use crate::state::{self, State};
use crate::users::User;
use crate::{deploy, down, tools, users};
use anyhow::{Result, bail};

/// Options of `up`.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Options {
    /// Use the AWS emulator at this URL (LocalStack or another) instead of starting one
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Port of the API on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

/// Runs the command: starts the stack and prints its URLs.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let state = bring_up(project, options)?;
    println!();
    println!("  page      {}", state.web_url);
    println!("  API       {}", state.api_url);
    println!("  emulator  {}", state.emulator_url);
    println!("  state     .longshore/local.json, logs beside it");
    show_sign_in(&state);
    println!();
    println!("Change code and run `cargo xtask up` again, or see `cargo xtask watch --help`.");
    println!("Stop it with `cargo xtask down`.");
    Ok(())
}

/// Prints how to sign in, on the page and in a shell. The password is only valid on this machine's emulator.
pub(crate) fn show_sign_in(state: &State) {
    if let Some(User { name, password, .. }) = state.users.first() {
        println!("  sign-in   {name}, password {password}");
        println!("            curl -H \"Authorization: Bearer $(cargo xtask token {name})\" …");
    }
}

/// Starts or updates the stack. On return, `api_url` answers.
pub(crate) fn bring_up(project: &Project, options: &Options) -> Result<State> {
    let tools = tools::ensure(project)?;
    let code = functions::build_all(project)?;
    let _lock = project.lock_stack()?;
    let mut state = state::read(project)?;
    if !same_place(&state, options) {
        down::stop(project, &state)?;
        state = State::default();
    }
    if state.emulator_url.is_empty() {
        start_emulator(project, &tools, options, &mut state)?;
    }
    let endpoint = state.emulator_url.clone();
    let stack = Stack { project, tools: &tools, endpoint: &endpoint };
    let deployed = deploy::bring_up_to_date(&stack, code, &mut state);
    // Also after a failure, when part of it may be deployed.
    state::write(project, &state)?;
    deployed?;
    users::sign_in(&stack, &mut state)?;
    state::write(project, &state)?;
    start_local_proxy(project, options, &mut state)?;
    users::let_return(&stack, &state)?;
    Ok(state)
}

/// Returns true if the stack of `state` is still running, at the requested endpoint and port.
fn same_place(state: &State, options: &Options) -> bool {
    let url = options.endpoint.as_deref().map(|url| url.trim_end_matches('/'));
    match (&state.emulator, url) {
        (Some(process), None) => process.is_alive(),
        (None, Some(url)) => state.emulator_url == url && emulator::answers(url),
        // An emulator that was named once is used until `down`.
        (None, None) => !state.emulator_url.is_empty() && emulator::answers(&state.emulator_url),
        (Some(_), Some(_)) => false,
    }
}

fn start_emulator(project: &Project, tools: &tools::Tools, options: &Options, state: &mut State) -> Result<()> {
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
    let wanted = options.port.or(port);
    let open = state.local_proxy.as_ref().is_some_and(crate::process::Background::is_alive);
    if !open || wanted != port {
        let step = progress::step("Starting the local proxy");
        if let Some(proxy) = state.local_proxy.take() {
            proxy.stop()?;
        }
        let port = match wanted {
            Some(port) => port,
            None => emulator::free_port()?,
        };
        state.local_proxy = Some(local_proxy::spawn(project, port, &upstream)?);
        state.api_url = format!("http://127.0.0.1:{port}");
        state.web_url.clone_from(&state.api_url);
        state::write(project, state)?;
        step.done_with(&state.api_url);
    }
    if !emulator::answers(&format!("{}{}", state.api_url, local_proxy::READY)) {
        bail!("the local proxy at {} does not answer: see .longshore/local-proxy.log", state.api_url);
    }
    Ok(())
}
