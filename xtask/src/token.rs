//! `token`: prints a new token of a user of the local stack.

use anyhow::{Context, Result, bail};
use local_cloud::project::Project;
use local_cloud::tools;
use local_cloud::users::{NAMES, signed_in};

/// Options of `token`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Name of the user
    #[arg(value_name = "NAME", default_value = NAMES[0])]
    name: String,
}

/// Runs the command. It prints the token and nothing else.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let state = signed_in(project, &tools::ensure(project)?)?;
    if state.users.is_empty() {
        bail!("the local stack has no users, because it was deployed with Access={}", state.output("Access")?);
    }
    let user = state.users.iter().find(|user| user.name == options.name);
    let names = NAMES.join(", ");
    println!("{}", user.with_context(|| format!("there is no user {}; the users are {names}", options.name))?.token);
    Ok(())
}
