//! `smoke`: runs the demo's checks with a small file against a deployed stack, on AWS or on an emulator.
//!
//! It first prints what it will create and the cost, and asks for confirmation. It removes everything that it
//! created, no matter how it ends: by an error, by Ctrl-C, by a kill, or because its terminal was closed.

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

/// Options of `smoke`.
#[derive(clap::Args)]
#[command(after_help = "Environment:
  LONGSHORE_TOKEN  Token to call the API with, of a user who is there; without it a user of the stack's pool is made,
                   or with --local the first user of the local stack is signed in")]
pub(crate) struct Options {
    /// Name of the stack, on AWS in the shell's region and with its credentials
    #[arg(long, value_name = "NAME", default_value = crate::stack::NAME, conflicts_with = "local")]
    pub(crate) stack: String,
    /// URL of an emulator that has the stack
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint: Option<String>,
    /// Test the stack of `cargo xtask up`
    #[arg(long)]
    pub(crate) local: bool,
    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Runs the command.
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
        let api = Api::new(&target.api_url, token.as_deref());
        let import = Import { project, tools: &tools, plan: &plan, folder: folder.join("report") };
        let mut job_url = None;
        let outcome = import.run(&api, &mut |made| match made {
            Made::Upload(id) => {
                cleanup.add("upload", id)?;
                // Only a job creates the dataset, and there is no job before its upload.
                cleanup.add("dataset", &name)
            }
            Made::Job(url) => {
                job_url = Some(url.to_owned());
                cleanup.add("job", url.rsplit('/').next().unwrap_or(url))
            }
        });
        outcome.map(|()| (api, job_url))
    });
    let (api, job) = both(outcome, cleanup.run())?;
    let job = job.context("there was no job")?;
    ensure!(api.read(&job, None)?.0 == 404, "the job is still there: {job}");
    ensure!(!api.has_records(&name)?, "records of the dataset {name} are still there");
    println!("\nSmoke test of {} passed; its sweeper removes the job's files within half an hour.", target.place);
    Ok(())
}

/// Combines the outcome with the result of the removal. An error of the removal never hides the error of the test.
fn both<T>(outcome: Result<T>, removed: Result<()>) -> Result<T> {
    match (outcome, removed) {
        (Err(failed), Err(left)) => bail!("{failed:#}\nerror: {left:#}"),
        (outcome, removed) => removed.and(outcome),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use clap::{FromArgMatches, error::ErrorKind};

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let command = <Options as clap::Args>::augment_args(clap::Command::new("smoke"));
        Options::from_arg_matches(&command.try_get_matches_from([&["smoke"], arguments].concat())?)
    }

    #[test]
    fn both_errors_are_reported_the_outcome_first() {
        let described = |outcome: Option<&'static str>, removed: Option<&'static str>| {
            let outcome = outcome.map_or(Ok(1), |text| Err(anyhow!(text)));
            let removed = removed.map_or(Ok(()), |text| Err(anyhow!(text)));
            both(outcome, removed).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(described(None, None), Ok(1));
        assert_eq!(described(Some("no job"), None), Err("no job".to_owned()));
        assert_eq!(described(None, Some("left")), Err("left".to_owned()));
        assert_eq!(described(Some("no job"), Some("left")), Err("no job\nerror: left".to_owned()));
    }

    #[test]
    fn a_stack_that_would_be_ignored_is_refused() -> Result<(), clap::Error> {
        assert!(parse(&["--local"])?.local);
        assert_eq!(parse(&["--stack", "other"])?.stack, "other");
        let refused = parse(&["--local", "--stack", "other"]).map(drop).map_err(|error| error.kind());
        assert_eq!(refused, Err(ErrorKind::ArgumentConflict));
        Ok(())
    }

    #[test]
    fn the_help_names_the_environment_variable() {
        let help = <Options as clap::Args>::augment_args(clap::Command::new("smoke")).render_help().to_string();
        assert!(help.contains("LONGSHORE_TOKEN"), "{help}");
    }
}
