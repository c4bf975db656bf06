//! `deploy-local`: deploys one changed function to the running stack, in the time of its own build.

use anyhow::{Result, bail};
use local_cloud::project::Project;
use local_cloud::stack::Stack;
use local_cloud::{deploy, functions};
use local_cloud::{state, tools};

/// Options of `deploy-local`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder name of the function, such as process-item
    function: String,
    /// Deploy the binary of this package instead of the function's own, for examples and experiments
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let function = &options.function;
    let known = functions::names(project)?;
    if !known.contains(function) {
        bail!("there is no function {function}; there are {}", known.join(", "));
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
    deploy::update_code(&stack, &mut state, function, &fingerprint)?;
    state::write(project, &state)?;
    if package != function {
        println!("{function} now runs {package}. `cargo xtask up` puts {function} itself back.");
    }
    Ok(())
}
