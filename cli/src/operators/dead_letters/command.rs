//! Options and output of `dead-letters`.

use anyhow::{Result, bail};
use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::document::DeadLetter;
use super::table;
use crate::connection::ConnectionOptions;
use crate::output::documents::print;
use crate::output::exit::CODES;

/// User of the local stack in the operators' group.
const OPERATOR: &str = "operator";

/// Options of `dead-letters`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List the open dead letters, newest first
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
    Show {
        #[arg(value_name = "ID")]
        dead_letter: String,
    },
    /// Replay dead letters: resend the message, retry the job for the items that failed with it and all unprocessed
    /// ones, or return an unreadable message to its queue
    Replay {
        #[arg(value_name = "ID", required_unless_present = "job")]
        dead_letters: Vec<String>,
        /// Replay all open dead letters of this job, in one retry
        #[arg(long, value_name = "JOB", conflicts_with = "dead_letters")]
        job: Option<String>,
        /// Reason, for the log of operators
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Discard dead letters; rows that failed with them stay failed
    Discard {
        #[arg(value_name = "ID", required = true)]
        dead_letters: Vec<String>,
        /// Reason, for the log of operators
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// If the API refuses the request, or if there is no deployment or no token.
pub fn run(options: &Options) -> Result<()> {
    let client = Client::new(options.connection.api(Some(OPERATOR))?);
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
            println!("{}", client.replay_job(job, reason.as_deref())?.describe());
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

/// Applies `action` to each dead letter and prints its result. A failure does not stop the others.
fn each(dead_letters: &[String], action: impl Fn(&str) -> Result<String>) -> Result<()> {
    let mut failures = 0;
    for dead_letter in dead_letters {
        match action(dead_letter) {
            Ok(description) => println!("{description}"),
            Err(error) => {
                failures += 1;
                eprintln!("{dead_letter}: {error:#}");
            }
        }
    }
    if failures > 0 {
        bail!("{failures} of {} dead letters failed and are unchanged", dead_letters.len());
    }
    Ok(())
}
