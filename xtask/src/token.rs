//! `token`: prints a fresh token of a user of the local stack.

use anyhow::{Context, Result, bail};
use local_cloud::project::Project;
use local_cloud::tools;
use local_cloud::users::{NAMES, signed_in};

/// Options of `token`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// User whose token is printed
    #[arg(value_name = "NAME", default_value = NAMES[0])]
    name: String,
}

/// Runs the command `token`: prints a fresh token and nothing else.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let state = signed_in(project, &tools::ensure(project)?)?;
    if state.users.is_empty() {
        bail!("this stack has no users of its own: it was deployed with Access={}", state.output("Access")?);
    }
    let user = state.users.iter().find(|user| user.name == options.name);
    let known = NAMES.join(", ");
    println!("{}", user.with_context(|| format!("there is no user {}; there are {known}", options.name))?.token);
    Ok(())
}
