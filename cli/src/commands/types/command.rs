//! The subcommands of `types`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::{check, registry};
use crate::connection::{ConnectionOptions, OPERATOR};
use crate::output::exit::CODES;

/// The exit codes of `apply`, for `--help`.
const APPLY_CODES: &str = "Exit codes: 0 the handler is accepted, 1 refused or failed, 2 wrong usage, 4 sign-in \
needed, 6 the handler is still being checked, 130 interrupted (129 by SIGHUP, 143 by SIGTERM).";

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
    /// List the registered job types
    #[command(after_help = CODES)]
    List {
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        connection: ConnectionOptions,
    },
    /// Print a registered job type as JSON
    #[command(after_help = CODES)]
    Get {
        /// Name of the job type
        name: String,
        #[command(flatten)]
        connection: ConnectionOptions,
    },
    /// Register or change a job type, and wait until its handler was checked
    #[command(after_help = APPLY_CODES)]
    Apply {
        /// Name of the job type
        name: String,
        /// File with the API's request as JSON; `-` reads standard input
        file: PathBuf,
        #[command(flatten)]
        connection: ConnectionOptions,
    },
    /// Delete a registered job type
    #[command(after_help = CODES)]
    Delete {
        /// Name of the job type
        name: String,
        #[command(flatten)]
        connection: ConnectionOptions,
    },
}

/// Runs the command.
///
/// # Errors
/// If the command itself fails, and not what it checks.
pub fn run(options: &Options) -> Result<ExitCode> {
    // Only operators register job types.
    let api = |connection: &ConnectionOptions| connection.api(Some(OPERATOR));
    match &options.action {
        Action::Check(options) => return check::run(options),
        Action::List { connection, json } => registry::list(&api(connection)?, *json)?,
        Action::Get { connection, name } => registry::get(&api(connection)?, name)?,
        Action::Apply { connection, name, file } => registry::apply(&api(connection)?, name, file)?,
        Action::Delete { connection, name } => registry::delete(&api(connection)?, name)?,
    }
    Ok(ExitCode::SUCCESS)
}
