//! Options and course of `smoke`.

use super::cleanup::{Cleanup, Kind};
use super::file;
use super::target::Target;
use crate::api::Api;
use crate::api::Mode;
use crate::import::{Import, Made, Plan, Source};
use anyhow::{Context, Result, bail, ensure};
use std::io::{IsTerminal, Write, stdin, stdout};
use tempfile::TempDir;

/// Options of `smoke`.
#[derive(clap::Args)]
#[command(after_help = "Environment:
  LONGSHORE_TOKEN  Token to call the API with, of a user who is there; without it a user of the stack's pool is made,
                   or with --local the first user of the local stack is signed in
  AWS_PROFILE, AWS_REGION and the other variables of AWS's tools: the account")]
pub struct Options {
    /// Name of the stack, on AWS in the shell's region and with its credentials
    #[arg(long, value_name = "NAME", default_value = "longshore", conflicts_with = "local")]
    stack: String,
    /// URL of an emulator that has the stack
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    endpoint: Option<String>,
    /// Test the local stack of the current folder, or of one above it, which `cargo xtask up` started
    #[arg(long)]
    local: bool,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
///
/// # Errors
/// If a check fails, or something cannot be removed.
pub fn run(options: &Options) -> Result<()> {
    let target =
        if options.local { Target::local()? } else { Target::look_up(&options.stack, options.endpoint.as_deref())? };
    let name = file::fresh_name();
    say(&target, &name);
    confirm(options.yes)?;
    let folder = tempfile::Builder::new().prefix("longshore-smoke-").tempdir()?;
    let mut cleanup = Cleanup::start(target.deployment(None))?;
    let outcome = import(&target, &name, folder, &mut cleanup);
    let (api, job) = both(outcome, cleanup.run())?;
    let job = job.context("there was no job")?;
    ensure!(api.read(&job, None)?.0 == 404, "the job is still there: {job}");
    ensure!(!api.has_records(&name)?, "records of the dataset {name} are still there");
    println!("\nSmoke test of {} passed; its sweeper removes the job's files within half an hour.", target.place);
    Ok(())
}

/// Imports the file into the dataset `name`. Registers everything that it makes for removal. The folder with the report
/// is kept if a check fails. Returns the URL of the job.
fn import(target: &Target, name: &str, folder: TempDir, cleanup: &mut Cleanup) -> Result<(Api, Option<String>)> {
    let (rows, schema) = file::write(folder.path())?;
    let plan = Plan {
        source: Source::read(&rows)?,
        schema: Some(schema),
        dataset: name.to_owned(),
        key: "id".to_owned(),
        mode: Mode::Upsert,
    };
    let user = target.needs_user().then_some(name);
    user.map(|user| cleanup.add(Kind::User, user)).transpose()?;
    let token = target.sign_in(user)?;
    cleanup.deployment(target.deployment(token.as_deref()))?;
    let api = Api::new(&target.api_url, token.as_deref());
    let import = Import { plan: &plan, folder: folder.path().join("report"), expected: &|_| Ok(file::expected()) };
    let mut job_url = None;
    let outcome = import.run(&api, &mut |made| match made {
        Made::Upload(id) => {
            cleanup.add(Kind::Upload, id)?;
            // Only a job creates the dataset, and there is no job before its upload.
            cleanup.add(Kind::Dataset, name)
        }
        Made::Job(url) => {
            job_url = Some(url.to_owned());
            cleanup.add(Kind::Job, url.rsplit('/').next().unwrap_or(url))
        }
        Made::Failures(_) => Ok(()),
    });
    outcome.with_context(|| format!("the file and the report are in {}", folder.keep().display()))?;
    Ok((api, job_url))
}

/// Combines the outcome with the result of the removal. An error of the removal never hides the error of the test.
fn both<T>(outcome: Result<T>, removed: Result<()>) -> Result<T> {
    match (outcome, removed) {
        (Err(failed), Err(left)) => bail!("{failed:#}\nerror: {left:#}"),
        (outcome, removed) => removed.and(outcome),
    }
}

fn say(target: &Target, name: &str) {
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
