//! `longshore`: the operators' commands.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use longshore_cli::{dead_letters, deploy_check, eprintln, receipt, smoke, types};

/// Check, test and operate Longshore deployments.
#[derive(Parser)]
#[command(name = "longshore", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List, show, replay and discard dead letters of a deployment, or of the local stack
    DeadLetters(dead_letters::Options),
    /// Check whether a deployment to AWS would fail, not work or lose data; changes nothing
    DeployCheck(deploy_check::Options),
    /// Import a small file through a deployed stack, check every row and remove all test data
    Smoke(smoke::Options),
    /// Check handlers of job types that are Lambda functions or HTTPS endpoints
    Types(types::Options),
    /// Verify a job's receipt against the files that it names
    VerifyReceipt(receipt::Options),
    /// Remove the test data of `smoke` after it has ended
    #[command(hide = true)]
    SmokeCleanup,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::DeadLetters(options) => dead_letters::run(&options)?,
        Command::DeployCheck(options) => deploy_check::run(&options)?,
        Command::Smoke(options) => smoke::run(&options)?,
        Command::Types(options) => return types::run(&options),
        Command::VerifyReceipt(options) => receipt::run(&options)?,
        Command::SmokeCleanup => {
            let is_clean = smoke::cleanup::run()?;
            return Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
