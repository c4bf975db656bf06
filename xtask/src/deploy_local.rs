//! `deploy-local`: builds one function and deploys it to the running stack.

use anyhow::{Result, bail};
use local_cloud::project::Project;
use local_cloud::stack::Stack;
use local_cloud::{functions, state, tools, up};

/// Options of `deploy-local`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder name of the function, such as process-item
    function: String,
    /// Package to deploy as this function [default: the function's own package]
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let function = &options.function;
    let names = functions::names(project)?;
    if !names.contains(function) {
        bail!("there is no function {function}; the functions are {}", names.join(", "));
    }
    let tools = tools::ensure(project)?;
    let _lock = project.lock_stack()?;
    let mut state = state::read(project)?;
    if !state.is_up() {
        bail!("the local stack is not running: start it with `cargo xtask up`");
    }
    let package = options.package.as_ref().unwrap_or(function);
    let fingerprint = functions::build_one(project, function, package)?;
    let endpoint = state.emulator_url.clone();
    let stack = Stack { project, tools: &tools, endpoint: &endpoint };
    up::update_code(&stack, &mut state, function, &fingerprint)?;
    state::write(project, &state)?;
    if package != function {
        println!("{function} now runs {package}. `cargo xtask up` restores {function}.");
    }
    Ok(())
}
