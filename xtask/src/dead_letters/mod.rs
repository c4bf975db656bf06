//! `dead-letters`: an operator's commands for messages that were received too often.
//!
//! A thin client; all decisions are the API's. Exit codes: 0 done, 1 refused or failed (the reason and the remedy on
//! stderr), 2 wrong usage.

mod client;
mod table;

use crate::project::Project;
use crate::stack::Stack;
use crate::users::{self, OPERATOR};
use crate::{state, tools};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use client::{Client, ListedDeadLetter, Replayed};

/// Environment variable of the token, if none is given.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// Options of `dead-letters`.
#[derive(clap::Args)]
#[command(
    after_help = "Without --api-url it is the running local stack, and its user `operator`. Exit codes: 0 done, \
                        1 refused or failed, 2 wrong usage."
)]
pub(crate) struct Options {
    /// Root URL of a deployment's API, its output ApiUrl [default: the local stack]
    #[arg(long, value_name = "URL", global = true)]
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
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let client = client(project, options)?;
    match &options.action {
        None => list(&client, None, None),
        Some(Action::List { queue, job }) => list(&client, queue.as_deref(), job.as_deref()),
        Some(Action::Show { dead_letter }) => {
            println!("{}", serde_json::to_string_pretty(&client.show(dead_letter)?)?);
            Ok(())
        }
        Some(Action::Replay { job: Some(job), .. }) => {
            println!("{}", described(&client.replay_job(job)?));
            Ok(())
        }
        Some(Action::Replay { dead_letters, job: None }) => {
            each(dead_letters, |dead_letter| Ok(described(&client.replay(dead_letter)?)))
        }
        Some(Action::Discard { dead_letters }) => each(dead_letters, |dead_letter| {
            client.discard(dead_letter)?;
            Ok(format!("{dead_letter}: discarded; its queue is rid of it at the next sweep"))
        }),
    }
}

fn client(project: &Project, options: &Options) -> Result<Client> {
    if let Some(url) = &options.api_url {
        let token = options.token.clone().or_else(|| std::env::var(TOKEN).ok().filter(|token| !token.is_empty()));
        let token = token.with_context(|| format!("no token: name one by --token, or set {TOKEN}"))?;
        return Ok(Client::new(url, &token));
    }
    let tools = tools::ensure(project)?;
    let _lock = project.lock_stack()?;
    let mut state = state::read(project)?;
    if !state.is_up() {
        bail!("the local stack is not running: start it with `cargo xtask up`, or name a deployment by --api-url");
    }
    let endpoint = state.emulator_url.clone();
    users::sign_in(&Stack { project, tools: &tools, endpoint: &endpoint }, &mut state)?;
    state::write(project, &state)?;
    let operator = state.users.iter().find(|user| user.name == OPERATOR);
    let operator = operator
        .context("this stack has no users of its own, and so no operator: name one's token by --api-url and --token")?;
    Ok(Client::new(&state.api_url, &operator.token))
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

/// Describes a replay in a sentence.
fn described(replayed: &Replayed) -> String {
    let (dead_letters, job) = (replayed.replayed.join(", "), replayed.job_id.as_deref().unwrap_or("-"));
    let did = match replayed.effect.as_str() {
        "message" => format!("sent again to job {job}"),
        "generation" => {
            format!("job {job} is opened again, as attempt {}", replayed.generation.unwrap_or_default() + 1)
        }
        "putBack" => "put back into the queue that it came from".to_owned(),
        _ => "replayed before; nothing was done".to_owned(),
    };
    let left = match replayed.left.len() {
        0 => String::new(),
        n => format!("; {n} dead letters of the job are left"),
    };
    format!("{dead_letters}: {did}{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_reported_by_what_it_did() {
        let replayed = |effect: &str, left: usize| Replayed {
            replayed: vec!["1-a".into(), "1-b".into()],
            left: vec!["x".into(); left],
            effect: effect.into(),
            job_id: Some("j".into()),
            generation: Some(1),
        };
        assert_eq!(described(&replayed("generation", 0)), "1-a, 1-b: job j is opened again, as attempt 2");
        assert_eq!(
            described(&replayed("message", 2)),
            "1-a, 1-b: sent again to job j; 2 dead letters of the job are left"
        );
        assert_eq!(described(&replayed("nothing", 0)), "1-a, 1-b: replayed before; nothing was done");
    }
}
