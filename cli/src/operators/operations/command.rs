//! Options and output of `operations`.

use anyhow::Result;
use clap::Subcommand;

use super::failures;
use super::filter::Filter;
use super::pauses::{self, Pause, Resume};
use super::retry::Retry;
use super::rows;
use super::webhooks::Webhooks;
use crate::api::Api;
use crate::connection::ConnectionOptions;
use crate::output::documents::{print, print_list};
use crate::output::exit::CODES;
use crate::output::pages::{self, entries};

const JOBS: pages::List = pages::List { action: "listing the jobs", member: "jobs" };
const HANDLERS: pages::List = pages::List { action: "listing the handlers", member: "handlers" };
const LOG: pages::List = pages::List { action: "reading the log", member: "entries" };

/// Options of `operations`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the jobs of all tenants, newest first
    #[command(after_help = CODES)]
    Jobs {
        /// Only jobs with this status
        #[arg(long, value_name = "STATUS", value_parser = ["waiting", "running", "completed", "failed", "canceled"])]
        status: Option<String>,
        #[command(flatten)]
        filter: Filter,
        /// Only unfinished jobs, the oldest first
        #[arg(long)]
        oldest: bool,
        #[command(flatten)]
        list: List,
    },
    /// Group the failed items of all tenants by job type and code
    #[command(after_help = CODES)]
    Failures {
        /// Only failures with this code
        #[arg(long, value_name = "CODE")]
        code: Option<String>,
        #[command(flatten)]
        filter: Filter,
        /// Print the groups as JSON
        #[arg(long)]
        json: bool,
    },
    /// Retry exactly the items that failed with a code, in all jobs of a type, or in those of --job
    #[command(after_help = CODES)]
    Retry(Retry),
    /// List the queues with the numbers of their messages and the age of the oldest
    #[command(after_help = CODES)]
    Queues {
        /// Print the queues as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the handlers of registered job types with their circuit breakers and permits
    #[command(after_help = CODES)]
    Handlers {
        /// Print the handlers as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the webhooks of a tenant that are disabled, pending, failing or paused
    #[command(after_help = CODES)]
    Webhooks(Webhooks),
    /// List the pauses of job types and tenants
    #[command(after_help = CODES)]
    Pauses {
        /// Print the pauses as JSON
        #[arg(long)]
        json: bool,
    },
    /// Pause a job type or a tenant: no batch of items starts later than five seconds after it, until the pause ends
    #[command(after_help = CODES)]
    Pause(Pause),
    /// End a pause
    #[command(after_help = CODES)]
    Resume(Resume),
    /// List what operators have done, newest first
    #[command(after_help = CODES)]
    Log {
        #[command(flatten)]
        list: List,
    },
}

/// The extent and the form of a list.
#[derive(clap::Args)]
struct List {
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// If the API refuses the request, or if there is no deployment or no token.
pub fn run(options: &Options) -> Result<()> {
    let api = options.connection.operator_api()?;
    match &options.action {
        Action::Jobs { status, filter, oldest, list } => {
            let order = oldest.then_some("oldest");
            let size = list.limit.min(100).to_string();
            let others = [("status", status.as_deref()), ("order", order), ("limit", Some(size.as_str()))];
            let path = |cursor: Option<&str>| filter.path("jobs", &others, cursor);
            let jobs = entries(&api, JOBS, list.limit, path)?;
            let heading = ["id", "tenant", "type", "status", "items", "failed", "created"];
            print_list(&jobs, list.json.then_some("jobs"), heading, rows::job)
        }
        Action::Failures { code, filter, json } => {
            let found = failures::read(&api, filter, code.as_deref())?;
            if *json {
                return print(&found.document());
            }
            found.print_table();
            Ok(())
        }
        Action::Retry(retry) => retry.execute(&api),
        Action::Queues { json } => {
            let document = api.get("/api/operations/queues", "listing the queues")?;
            let queues = document["queues"].as_array().cloned().unwrap_or_default();
            let heading = ["queue", "waiting", "in work", "delayed", "oldest (s)"];
            print_list(&queues, json.then_some("queues"), heading, rows::queue)
        }
        Action::Handlers { json } => print_handlers(&api, *json),
        Action::Webhooks(webhooks) => webhooks.execute(&api),
        Action::Pauses { json } => {
            let heading = ["id", "type", "tenant", "since", "until", "by"];
            print_list(&pauses::read(&api)?, json.then_some("pauses"), heading, pauses::row)
        }
        Action::Pause(pause) => pause.execute(&api),
        Action::Resume(resume) => resume.execute(&api),
        Action::Log { list } => print_log(&api, list),
    }
}

fn print_handlers(api: &Api, as_json: bool) -> Result<()> {
    let path = |cursor: Option<&str>| Filter::default().path("handlers", &[("limit", Some("50"))], cursor);
    let handlers = entries(api, HANDLERS, usize::MAX, path)?;
    let heading = ["name", "status", "breaker", "since", "permits", "items/s", "parked"];
    print_list(&handlers, as_json.then_some("handlers"), heading, rows::handler)
}

fn print_log(api: &Api, list: &List) -> Result<()> {
    let size = list.limit.min(50).to_string();
    let path = |cursor: Option<&str>| Filter::default().path("log", &[("limit", Some(&size))], cursor);
    let log = entries(api, LOG, list.limit, path)?;
    let heading = ["time", "operator", "action", "concerns", "reason", "result"];
    print_list(&log, list.json.then_some("entries"), heading, rows::log_entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_names_its_exit_codes() {
        let mut operations = <Options as clap::Args>::augment_args(clap::Command::new("operations"));
        let mut names = Vec::new();
        for subcommand in operations.get_subcommands_mut() {
            assert!(subcommand.render_help().to_string().contains(CODES), "{}", subcommand.get_name());
            names.push(subcommand.get_name().to_owned());
        }
        assert_eq!(names.len(), 10, "{names:?}");
    }
}
