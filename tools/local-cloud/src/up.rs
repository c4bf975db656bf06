//! Starts, updates and stops the local stack: deploys template.yaml and the functions to the emulator.
//!
//! A new or changed template is deployed with `sam deploy`, as on AWS. If only code has changed, each changed function
//! is updated directly, which takes one second instead of ten.

use crate::emulator::{self, Emulator};
use crate::process::{Background, free_port, responds};
use crate::project::{Build, Project};
use crate::stack::{Deployment, NAME, Stack};
use crate::state::{self, Deployed, State};
use crate::tools::{self, Tools};
use crate::{functions, local_proxy, parameters, users};
use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use longshore_cli::progress::{self, Step};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Name of the example handler, which is in the local `HandlerFunctions` of samconfig.toml.
const EXAMPLE_HANDLER: &str = "contacts";
/// Its files.
const EXAMPLE_FILES: [&str; 3] = ["lambda_function.py", "contacts.py", "longshore_handler.py"];

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
    let outcome = bring_up_to_date(&stack, code, &mut state).and_then(|()| create_example_handler(&stack, &mut state));
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

/// Deploys the template and the functions that have changed. `code` has the fingerprints of the functions. Updates
/// `state`.
fn bring_up_to_date(stack: &Stack<'_>, code: BTreeMap<String, String>, state: &mut State) -> Result<()> {
    let template = template_fingerprint(stack.project)?;
    let target = Deployed { template, code };
    if state.deployed.template != target.template {
        // CloudFormation does not notice direct code updates: it keeps them if its own package is unchanged. The code
        // of each function is therefore updated below.
        let previous = std::mem::take(&mut state.deployed);
        sam_deploy(stack)?;
        describe(stack, state)?;
        state.deployed = Deployed { template: target.template.clone(), code: target.code.clone() };
        if !previous.template.is_empty() {
            state.deployed.code.clear();
        }
    }
    for (function, fingerprint) in &target.code {
        if state.deployed.code.get(function) != Some(fingerprint) {
            update_code(stack, state, function, fingerprint)?;
        }
    }
    Ok(())
}

/// Creates the example handler, `examples/handlers/python`, once. The local settings permit it as a handler.
fn create_example_handler(stack: &Stack<'_>, state: &mut State) -> Result<()> {
    if !state.example_handler.is_empty() || state.emulator.is_none() {
        return Ok(());
    }
    let cloud = stack.cloud()?;
    let files = EXAMPLE_FILES.map(|name| stack.project.root.join("examples/handlers/python").join(name));
    // A role that permits nothing but logs.
    let role = cloud.physical_id(NAME, "WebRole")?;
    cloud.create_python_function(EXAMPLE_HANDLER, "lambda_function.lambda_handler", &files, &role)?;
    state.example_handler = example_arn();
    Ok(())
}

fn example_arn() -> String {
    format!("arn:aws:lambda:us-east-1:000000000000:function:{EXAMPLE_HANDLER}:live")
}

/// Updates one function's code on the stack.
pub fn update_code(stack: &Stack<'_>, state: &mut State, function: &str, fingerprint: &str) -> Result<()> {
    let step = progress::step(&format!("Updating {function}"));
    let name = state.physical_name(function)?;
    stack.cloud()?.update_code(name, &stack.project.bootstrap(function))?;
    state.deployed.code.insert(function.to_owned(), fingerprint.to_owned());
    step.done();
    Ok(())
}

fn describe(stack: &Stack<'_>, state: &mut State) -> Result<()> {
    let deployed = stack.cloud()?.inventory(NAME)?.with_context(|| format!("the stack {NAME} does not exist"))?;
    if !matches!(deployed.status.as_str(), "CREATE_COMPLETE" | "UPDATE_COMPLETE") {
        bail!("the stack {NAME} is not usable ({}):\n{}", deployed.status, stack.cloud()?.failures(NAME));
    }
    let functions = deployed.of_kind("AWS::Lambda::Function");
    state.functions = functions.map(|function| (function.id.clone(), function.name.clone())).collect();
    state.outputs = deployed.outputs;
    Ok(())
}

fn sam_deploy(stack: &Stack<'_>) -> Result<()> {
    let step = progress::step("Deploying template.yaml");
    let log = stack.project.log("deploy")?;
    let mut file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let folder = stack.project.template_dir()?;
    let parameters = parameters::overrides(&folder)?;
    let deployment = Deployment { folder: &folder, stack: NAME, parameters };
    let mut sam = deployment.command(stack.tools, stack.endpoint);
    sam.stdout(Stdio::piped()).stderr(file.try_clone()?);
    let mut child = sam.spawn().context("cannot run sam")?;
    let output = child.stdout.take().context("sam has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        writeln!(file, "{line}")?;
        show(&step, &line);
    }
    if !child.wait()?.success() {
        let failures = stack.cloud()?.failures(NAME);
        bail!("the deployment failed.\n{failures}\nThe last lines of {}:\n{}", log.display(), emulator::tail(&log, 15));
    }
    step.done();
    Ok(())
}

/// Shows a row of SAM's event table. Its columns are status, type, logical id and reason.
fn show(step: &Step, line: &str) {
    let mut words = line.split_whitespace();
    if let (Some(status), Some(kind), Some(id)) = (words.next(), words.next(), words.next())
        && kind.starts_with("AWS::")
    {
        step.detail(&format!("{id} {}", status.to_lowercase().replace('_', " ")));
    }
}

fn template_fingerprint(project: &Project) -> Result<String> {
    let mut hash = Sha256::new();
    for name in ["template.yaml", "samconfig.toml"] {
        let path = project.root.join(name);
        hash.update(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
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
