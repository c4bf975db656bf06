//! Options and output of `dead-letters`.

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use super::client::Client;
use super::table;
use crate::local_stack::LocalStack;

/// Environment variable of the URL, if none is given.
const API_URL: &str = "LONGSHORE_API_URL";
/// Environment variable of the token, if none is given.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// User of the local stack who is in the operators' group.
const OPERATOR: &str = "operator";

/// Options of `dead-letters`.
#[derive(clap::Args)]
#[command(after_help = "Without a URL it is the local stack of the current folder, or of a folder above it \
(.longshore/local.json, which `cargo xtask up` writes), and its user `operator`. Exit codes: 0 done, 1 refused or \
failed, 2 wrong usage.")]
pub struct Options {
    /// Root URL of a deployment's API, its output ApiUrl [default: the local stack]
    #[arg(long, value_name = "URL", global = true, env = API_URL)]
    api_url: Option<String>,
    /// An operator's token for --api-url [default: the variable LONGSHORE_TOKEN]
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
    /// Print a dead letter as the API returns it, with its message body, which may contain rows
    Show {
        #[arg(value_name = "ID")]
        dead_letter: String,
    },
    /// Replay dead letters: resend the message, or retry the job for the items that failed with it
    Replay {
        #[arg(value_name = "ID", required_unless_present = "job")]
        dead_letters: Vec<String>,
        /// All open dead letters of this job, in one retry
        #[arg(long, value_name = "JOB", conflicts_with = "dead_letters")]
        job: Option<String>,
    },
    /// Discard dead letters; rows that were counted as failed with them stay failed
    Discard {
        #[arg(value_name = "ID", required = true)]
        dead_letters: Vec<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// If the API refuses, or there is no deployment or no token.
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
            Ok(format!("{dead_letter}: discarded; its queue is rid of it at the next sweep"))
        }),
    }
}

fn client(options: &Options) -> Result<Client> {
    let Some(url) = options.api_url.as_ref().filter(|url| !url.is_empty()) else { return local_client() };
    let token = options.token.clone().or_else(|| std::env::var(TOKEN).ok()).filter(|token| !token.is_empty());
    let token = token.with_context(|| format!("no token: name one by --token, or set {TOKEN}"))?;
    Ok(Client::new(url, &token))
}

fn local_client() -> Result<Client> {
    let stack = LocalStack::find(&std::env::current_dir()?)?.with_context(|| {
        format!("no deployment: name one by --api-url or {API_URL}, or start a local stack with `cargo xtask up`")
    })?;
    let token = stack.token_of(OPERATOR)?;
    let token = token
        .context("this stack has no users of its own, and so no operator: name one's token by --api-url and --token")?;
    Ok(Client::new(&stack.api_url, &token))
}

fn list(client: &Client, queue: Option<&str>, job: Option<&str>) -> Result<()> {
    let dead_letters = client.list(queue, job)?;
    if dead_letters.is_empty() {
        println!("There are no open dead letters{}.", if queue.or(job).is_some() { " of that kind" } else { "" });
        return Ok(());
    }
    print!("{}", table::render(&dead_letters));
    println!(
        "\n{} open. `show`, `replay` and `discard` take a dead letter; `replay --job JOB` all of a job.",
        dead_letters.len()
    );
    Ok(())
}

/// Applies `act` to each dead letter; a failure does not stop the others.
fn each(dead_letters: &[String], act: impl Fn(&str) -> Result<String>) -> Result<()> {
    let mut failures = 0;
    for dead_letter in dead_letters {
        match act(dead_letter) {
            Ok(reported) => println!("{reported}"),
            Err(error) => {
                failures += 1;
                eprintln!("{dead_letter}: {error:#}");
            }
        }
    }
    if failures > 0 {
        bail!("{failures} of {} dead letters: nothing was done about them", dead_letters.len());
    }
    Ok(())
}
