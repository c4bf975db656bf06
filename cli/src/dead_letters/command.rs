//! Options and output of `dead-letters`.

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use super::client::Client;
use super::table;
use crate::local_stack::LocalStack;

/// Environment variable of the default for `--api-url`.
const API_URL: &str = "LONGSHORE_API_URL";
/// Environment variable of the default for `--token`.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// User of the local stack in the operators' group.
const OPERATOR: &str = "operator";

/// Options of `dead-letters`.
#[derive(clap::Args)]
#[command(
    after_help = "Without --api-url and LONGSHORE_API_URL, the command uses the local stack that `cargo xtask up` started in the current \
folder or a parent folder, and its user `operator`. Exit codes: 0 success, 1 refused or failed, 2 wrong usage."
)]
pub struct Options {
    /// Root URL of the API: the stack's output ApiUrl [default: the local stack]
    #[arg(long, value_name = "URL", global = true, env = API_URL)]
    api_url: Option<String>,
    /// Token of an operator, for --api-url [default: the variable LONGSHORE_TOKEN]
    #[arg(long, value_name = "TOKEN", global = true, requires = "api_url")]
    token: Option<String>,
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
    },
    /// Discard dead letters; rows that failed with them stay failed
    Discard {
        #[arg(value_name = "ID", required = true)]
        dead_letters: Vec<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// If the API refuses the request, or if there is no deployment or no token.
pub fn run(options: &Options) -> Result<()> {
    let client = client(options)?;
    match &options.action {
        None => list(&client, None, None),
        Some(Action::List { queue, job }) => list(&client, queue.as_deref(), job.as_deref()),
        Some(Action::Show { dead_letter }) => {
            println!("{}", serde_json::to_string_pretty(&client.show(dead_letter)?)?);
            Ok(())
        }
        Some(Action::Replay { job: Some(job), .. }) => {
            println!("{}", client.replay_job(job)?.describe());
            Ok(())
        }
        Some(Action::Replay { dead_letters, job: None }) => {
            each(dead_letters, |dead_letter| Ok(client.replay(dead_letter)?.describe()))
        }
        Some(Action::Discard { dead_letters }) => each(dead_letters, |dead_letter| {
            client.discard(dead_letter)?;
            Ok(format!("{dead_letter}: discarded; the next sweep removes it from its queue"))
        }),
    }
}

fn client(options: &Options) -> Result<Client> {
    let Some(url) = options.api_url.as_ref().filter(|url| !url.is_empty()) else { return local_client() };
    let token = options.token.clone().or_else(|| std::env::var(TOKEN).ok()).filter(|token| !token.is_empty());
    let token = token.with_context(|| format!("no token: pass one with --token, or set {TOKEN}"))?;
    Ok(Client::new(url, &token))
}

fn local_client() -> Result<Client> {
    let stack = LocalStack::find(&std::env::current_dir()?)?.with_context(|| {
        format!("no deployment: pass its URL with --api-url or {API_URL}, or start a local stack with `cargo xtask up`")
    })?;
    let token = stack.token_of(OPERATOR)?;
    let token = token.context("the local stack has no user `operator`: pass --api-url and an operator's --token")?;
    Ok(Client::new(&stack.api_url, &token))
}

fn list(client: &Client, queue: Option<&str>, job: Option<&str>) -> Result<()> {
    let dead_letters = client.list(queue, job)?;
    if dead_letters.is_empty() {
        println!("There are no open dead letters{}.", if queue.or(job).is_some() { " that match" } else { "" });
        return Ok(());
    }
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
