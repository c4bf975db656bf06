//! Deploys template.yaml and the functions to the emulator.
//!
//! A new or changed template is deployed with `sam deploy`, as on AWS. If only code has changed, each changed function
//! is updated directly, which takes one second instead of ten.

use crate::emulator::tail;
use crate::project::Project;
use crate::stack::{Deployment, Description, NAME, Stack};
use crate::state::{Deployed, State};
use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use longshore_cli::progress::{self, Step};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Deploys the template and the functions that have changed. `code` has the fingerprints of the functions. Updates
/// `state`.
pub fn bring_up_to_date(stack: &Stack<'_>, code: BTreeMap<String, String>, state: &mut State) -> Result<()> {
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
    let Description { status, outputs, functions } = stack.cloud()?.describe(NAME)?;
    let status = status.unwrap_or_else(|| "it does not exist".to_owned());
    if !matches!(status.as_str(), "CREATE_COMPLETE" | "UPDATE_COMPLETE") {
        bail!("the stack {NAME} is not usable ({status}):\n{}", stack.cloud()?.failures(NAME));
    }
    state.outputs = outputs;
    state.functions = functions;
    Ok(())
}

fn sam_deploy(stack: &Stack<'_>) -> Result<()> {
    let step = progress::step("Deploying template.yaml");
    let log = stack.project.log("deploy")?;
    let mut file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let folder = stack.project.template_dir()?;
    let overrides = "Environment=local Architecture=arm64 RequireTls=false AllowedOrigins=*".to_owned();
    let parameters = cfg!(target_arch = "aarch64").then_some(overrides);
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
        bail!("the deployment failed.\n{failures}\nThe last lines of {}:\n{}", log.display(), tail(&log, 15));
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
