//! `smoke`: the demo's checks with a small file, against a stack that is deployed: on AWS, or on an emulator.
//!
//! It says first what it will make and what that costs, and asks. What it has made it removes, however it ends.

mod cleanup;
mod file;
mod target;

use crate::api::Api;
use crate::demo::{Import, Made, Plan};
use crate::project::Project;
use crate::tools;
use anyhow::{Context, Result, bail, ensure};
use cleanup::Cleanup;
use std::io::{IsTerminal, Write, stdin, stdout};
use target::Target;

/// What `smoke` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Name of the stack, on AWS by the shell's region and credentials
    #[arg(long, value_name = "NAME", default_value = crate::stack::NAME)]
    pub(crate) stack: String,
    /// The stack is on the emulator at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint: Option<String>,
    /// The stack of `cargo xtask up`, as its first user
    #[arg(long)]
    pub(crate) local: bool,
    /// Ask nothing
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let tools = tools::ensure(project)?;
    let mut target = Target::find(project, &tools, options)?;
    let name = file::fresh_name();
    say(&target, &name);
    confirm(options.yes)?;
    let folder = project.state_dir()?.join("smoke");
    let (rows, schema) = file::write(&folder)?;
    let plan = Plan::for_dataset(&name, &rows, &schema)?;
    let mut cleanup = Cleanup::post(&target)?;
    let user = target.needs_user().then_some(name.as_str());
    user.map(|user| cleanup.add("user", user)).transpose()?;
    let outcome = target.sign_in(user).and_then(|token| {
        cleanup.deployment(&target, token.as_deref())?;
        cleanup.add("dataset", &name)?;
        let api = Api::new(&target.api_url, token.as_deref());
        let import = Import { project, tools: &tools, plan: &plan, folder: folder.join("report") };
        let mut job_url = None;
        let outcome = import.run(&api, &mut |made| match made {
            Made::Upload(id) => cleanup.add("upload", id),
            Made::Job(url) => {
                job_url = Some(url.to_owned());
                cleanup.add("job", url.rsplit('/').next().unwrap_or(url))
            }
        });
        outcome.map(|()| (api, job_url))
    });
    println!("\nRemoving what was made:");
    cleanup.run()?;
    let (api, job) = outcome?;
    let job = job.context("there was no job")?;
    ensure!(api.read(&job, None)?.0 == 404, "the job is still there: {job}");
    ensure!(!api.has_records(&name)?, "records of the dataset {name} are still there");
    println!("\nSmoke test of {} passed; its sweeper removes the job's files within half an hour.", target.place);
    Ok(())
}

fn say(target: &Target<'_>, name: &str) {
    println!("On {} this makes, and removes at the end:", target.place);
    println!("  an upload of {} rows and its job", file::ROWS);
    println!("  up to {} records in the dataset {name}", file::ROWS);
    if target.needs_user() {
        println!("  a user {name} of the stack's pool");
    }
    println!("It costs less than $0.01 of calls to AWS.");
}

fn confirm(yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    ensure!(stdin().is_terminal(), "nobody to ask: say --yes");
    print!("Go on? [y/N] ");
    stdout().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        bail!("nothing was made");
    }
    Ok(())
}
