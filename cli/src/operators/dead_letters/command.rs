//! Options and output of `dead-letters`.

use anyhow::Result;
use clap::{ArgGroup, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::document::DeadLetter;
use super::each::{each, with_advice};
use super::table;
use crate::connection::ConnectionOptions;
use crate::output::documents::print;
use crate::output::exit::CODES;

/// Options of `dead-letters`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Subcommand)]
enum Action {
    /// List the open dead letters, newest first
    #[command(after_help = CODES)]
    List {
        /// Only dead letters of this queue
        #[arg(long, value_parser = ["create", "chunk", "complete"])]
        queue: Option<String>,
        /// Only dead letters of this job
        #[arg(long, value_name = "JOB")]
        job: Option<String>,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a dead letter as JSON, with its message body, which can contain rows of a file
    #[command(after_help = CODES)]
    Show {
        /// Id of the dead letter, as `list` prints it
        #[arg(value_name = "ID")]
        dead_letter: String,
    },
    /// Replay dead letters: resend the message, retry the job for the items that failed with it and all unprocessed
    /// ones, or return an unreadable message to its queue
    #[command(after_help = CODES, group = ArgGroup::new("replayed").required(true).args(["dead_letters", "job"]))]
    Replay {
        /// Id of the dead letter, as `list` prints it; one or more
        #[arg(value_name = "ID")]
        dead_letters: Vec<String>,
        /// Replay all open dead letters of this job, in one retry
        #[arg(long, value_name = "JOB")]
        job: Option<String>,
        /// Reason, for the operators' log
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Discard dead letters; rows that failed with them stay failed
    #[command(after_help = CODES)]
    Discard {
        /// Id of the dead letter, as `list` prints it; one or more
        #[arg(value_name = "ID", required = true)]
        dead_letters: Vec<String>,
        /// Reason, for the operators' log
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// If the API refuses the request, or if there is no deployment or no token.
pub fn run(options: &Options) -> Result<()> {
    let client = Client::new(options.connection.operator_api()?);
    match &options.action {
        None => print_table(&client.list(None, None)?, false),
        Some(Action::List { queue, job, json }) => {
            let dead_letters = client.list(queue.as_deref(), job.as_deref())?;
            if *json {
                return print(&json!({ "deadLetters": dead_letters }));
            }
            print_table(&dead_letters, queue.is_some() || job.is_some())
        }
        Some(Action::Show { dead_letter }) => print(&client.show(dead_letter)?),
        Some(Action::Replay { job: Some(job), reason, .. }) => {
            println!("{}", client.replay_job(job, reason.as_deref()).map_err(with_advice)?.describe());
            Ok(())
        }
        Some(Action::Replay { dead_letters, job: None, reason }) => {
            each(dead_letters, |dead_letter| Ok(client.replay(dead_letter, reason.as_deref())?.describe()))
        }
        Some(Action::Discard { dead_letters, reason }) => each(dead_letters, |dead_letter| {
            client.discard(dead_letter, reason.as_deref())?;
            Ok(format!("{dead_letter}: discarded; the next sweep removes it from its queue"))
        }),
    }
}

fn print_table(dead_letters: &[Value], is_filtered: bool) -> Result<()> {
    if dead_letters.is_empty() {
        println!("There are no open dead letters{}.", if is_filtered { " that match" } else { "" });
        return Ok(());
    }
    let dead_letters = dead_letters.iter().map(DeadLetter::deserialize).collect::<Result<Vec<_>, _>>()?;
    print!("{}", table::render(&dead_letters));
    println!(
        "\n{} open. Pass an id to `show`, `replay` or `discard`, or replay all of a job with `replay --job JOB`.",
        dead_letters.len()
    );
    Ok(())
}
