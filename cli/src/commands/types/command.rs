//! The subcommands of `types`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::{check, registry};
use crate::connection::ConnectionOptions;
use crate::output::exit::CODES;

/// User of the local stack in the operators' group. Only operators register job types.
const OPERATOR: &str = "operator";

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
        #[command(flatten)]
        connection: ConnectionOptions,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a registered job type as JSON
    #[command(after_help = CODES)]
    Get {
        #[command(flatten)]
        connection: ConnectionOptions,
        name: String,
    },
    /// Register or change a job type, and wait until its handler was checked
    #[command(after_help = CODES)]
    Apply {
        #[command(flatten)]
        connection: ConnectionOptions,
        name: String,
        /// File with the API's request as JSON; `-` reads standard input
        file: PathBuf,
    },
    /// Delete a registered job type
    #[command(after_help = CODES)]
    Delete {
        #[command(flatten)]
        connection: ConnectionOptions,
        name: String,
    },
}

/// Runs the command.
///
/// # Errors
/// If the command itself fails, and not what it checks.
pub fn run(options: &Options) -> Result<ExitCode> {
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
