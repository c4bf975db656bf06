//! The command and its subcommands.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::commands::{
    ExportOptions, ImportOptions, RunOptions, completion, costs, jobs, receipt, schedules, types, webhooks,
};
use crate::connection::{self, LoginOptions, LogoutOptions};
use crate::operators::{dead_letters, deploy_check, doctor, load, operations, smoke};
use crate::output::exit::{Exit, exit_code};
use crate::output::{interrupt, printable};

/// Run jobs on Longshore deployments, and operate them.
#[derive(Parser)]
#[command(name = "longshore", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sign in to a deployment in the browser, or keep the token of a machine
    Login(LoginOptions),
    /// Delete the tokens of a deployment
    Logout(LogoutOptions),
    /// Import a file, or standard input, into a dataset
    Import(Box<ImportOptions>),
    /// Export a dataset to a file, or to standard output
    Export(Box<ExportOptions>),
    /// Run a job of any type
    Run(Box<RunOptions>),
    /// List, watch, cancel, retry and undo jobs, and read their failures and results
    Jobs(Box<jobs::Options>),
    /// Show what the jobs of a month have cost, by job type
    Costs(costs::Options),
    /// Start jobs at times: list, create, change, trigger and delete schedules
    Schedules(schedules::Options),
    /// Send events to endpoints: list, create, change, test, replay and delete webhooks
    Webhooks(webhooks::Options),
    /// List, show, replay and discard dead letters of a deployment, or of the local stack
    DeadLetters(dead_letters::Options),
    /// See jobs, failures, queues, handlers, webhooks and the operators' log of all tenants; retry a group of failures;
    /// pause a job type or a tenant
    Operations(Box<operations::Options>),
    /// Check whether a deployment to AWS would fail, not work or lose data; changes nothing
    DeployCheck(deploy_check::Options),
    /// Find what is wrong with a deployed stack, and the command that fixes it; changes nothing
    Doctor(doctor::Options),
    /// Run many jobs at a rate or at once, check their counts, and measure latencies; removes all test data;
    /// the name of the dataset stays in the list
    Load(Box<load::Options>),
    /// Import a small file through a deployed stack, check every row and remove all test data
    Smoke(smoke::Options),
    /// List, register, check and delete job types whose handler is a Lambda function or an HTTPS endpoint
    Types(types::Options),
    /// Verify a job's receipt against the files that it names
    VerifyReceipt(receipt::Options),
    /// Print a script that completes commands in a shell
    Completion(completion::Options),
    /// Remove the test data of `smoke` after it has ended
    #[command(hide = true)]
    SmokeCleanup,
    /// Remove the test data of `load` after it has ended
    #[command(hide = true)]
    LoadCleanup,
}

/// Runs the command with these arguments, the first of which is the name of the program. Errors, `--help` and
/// `--version` are printed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match execute(Cli::parse_from(arguments).command) {
        Ok(exit) => exit,
        Err(error) => {
            eprintln!("error: {}", printable(&format!("{error:#}")));
            exit_code(&error).into()
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Completion(options) => options.print::<Cli>(),
        Command::Costs(options) => costs::run(&options)?,
        Command::DeadLetters(options) => dead_letters::run(&options)?,
        Command::DeployCheck(options) => deploy_check::run(&options)?,
        Command::Operations(options) => operations::run(&options)?,
        Command::Login(options) => connection::login(&options)?,
        Command::Logout(options) => connection::logout(&options)?,
        Command::Schedules(options) => schedules::run(&options)?,
        Command::Doctor(options) => return doctor::run(&options).map(ExitCode::from),
        Command::Load(options) => return load::run(&options).map(ExitCode::from),
        Command::Smoke(options) => smoke::run(&options)?,
        Command::Types(options) => return types::run(&options),
        Command::Webhooks(options) => webhooks::run(&options)?,
        Command::VerifyReceipt(options) => receipt::run(&options)?,
        Command::Import(options) => return interruptible(|| options.execute()),
        Command::Export(options) => return interruptible(|| options.execute()),
        Command::Run(options) => return interruptible(|| options.execute()),
        Command::Jobs(options) => return interruptible(|| options.execute()),
        Command::SmokeCleanup => return Ok(removed(smoke::cleanup::run()?)),
        Command::LoadCleanup => return Ok(removed(load::cleanup::run()?)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the exit code of a process that removes test data.
fn removed(is_complete: bool) -> ExitCode {
    if is_complete { Exit::Success } else { Exit::Failed }.into()
}

/// Runs a command that can wait for a job. The others remove their test data, or end at once.
fn interruptible(command: impl FnOnce() -> Result<Exit>) -> Result<ExitCode> {
    interrupt::listen();
    command().map(ExitCode::from)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// Passes each visible command that has no subcommands to `check`, with its words.
    fn each_leaf(command: &Command, words: &str, check: &mut dyn FnMut(&str, &Command)) {
        let mut visible = command.get_subcommands().filter(|command| !command.is_hide_set()).peekable();
        if visible.peek().is_none() {
            check(words, command);
        }
        for command in visible {
            each_leaf(command, format!("{words} {}", command.get_name()).trim_start(), check);
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_has_the_exit_codes_and_explains_every_argument() {
        each_leaf(&Cli::command(), "", &mut |words, command| {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Exit codes: 0 "), "{words}: {after}");
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                assert!(argument.get_help().is_some(), "{words}: {} has no text", argument.get_id());
            }
        });
    }

    #[test]
    fn only_the_deployment_and_its_user_are_below_the_heading_of_the_deployment() {
        each_leaf(&Cli::command(), "", &mut |words, command| {
            let below = command.get_arguments().filter(|argument| argument.get_help_heading() == Some("Deployment"));
            for argument in below {
                let name = argument.get_id().as_str();
                assert!(["api_url", "token", "profile", "user"].contains(&name), "{words}: {name}");
            }
        });
    }
}
