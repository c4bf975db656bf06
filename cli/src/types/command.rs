//! The subcommands of `types`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::check;

/// Options of `types`.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Check a handler: a Lambda function or an HTTPS endpoint, before it is registered
    Check(Box<check::Options>),
}

/// Runs the command.
///
/// # Errors
/// If the command itself fails, and not what it checks.
pub fn run(options: &Options) -> Result<ExitCode> {
    match &options.action {
        Action::Check(options) => check::run(options),
    }
}
