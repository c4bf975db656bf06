//! Options and output of `operations`.

use anyhow::Result;
use clap::Subcommand;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::failures;
use super::filter::Filter;
use super::pauses::{self, Pause, Resume};
use super::retry::Retry;
use crate::api::Api;
use crate::connection::ConnectionOptions;
use crate::output::documents::{print, print_list, text};
use crate::output::exit::CODES;
use crate::output::pages::{self, entries};
use crate::output::table;

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
    /// Retry exactly the items that failed with a code, in all jobs of a type or in these
    Retry(Retry),
    /// List the queues with the numbers of their messages and the age of the oldest
    Queues {
        /// Print the queues as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the handlers of registered job types with their circuit breakers and permits
    Handlers {
        /// Print the handlers as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the pauses of job types and tenants
    Pauses {
        /// Print the pauses as JSON
        #[arg(long)]
        json: bool,
    },
    /// Pause a job type or a tenant: no item starts until the pause ends
    Pause(Pause),
    /// End a pause
    Resume(Resume),
    /// List what operators have done, newest first
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
            print_list(&jobs, list.json.then_some("jobs"), heading, job)
        }
        Action::Failures { code, filter, json } => print_failures(&api, filter, code.as_deref(), *json),
        Action::Retry(retry) => retry.execute(&api),
        Action::Queues { json } => {
            let document = api.get("/api/operations/queues", "listing the queues")?;
            let queues = document["queues"].as_array().cloned().unwrap_or_default();
            let heading = ["queue", "visible", "in flight", "delayed", "oldest (s)"];
            print_list(&queues, json.then_some("queues"), heading, queue)
        }
        Action::Handlers { json } => print_handlers(&api, *json),
        Action::Pauses { json } => {
            let heading = ["id", "type", "tenant", "since", "until", "by"];
            print_list(&pauses::read(&api)?, json.then_some("pauses"), heading, pauses::row)
        }
        Action::Pause(pause) => pause.execute(&api),
        Action::Resume(resume) => resume.execute(&api),
        Action::Log { list } => print_log(&api, list),
    }
}

fn print_failures(api: &Api, filter: &Filter, code: Option<&str>, as_json: bool) -> Result<()> {
    let found = failures::read(api, filter, code)?;
    if as_json {
        let group = |group: &failures::Group| {
            json!({ "type": group.job_type, "code": group.code, "items": group.items, "jobs": group.jobs,
                "firstSeen": group.first_seen.map(Timestamp::to_rfc3339),
                "lastSeen": group.last_seen.map(Timestamp::to_rfc3339), "jobIds": group.job_ids })
        };
        let groups: Vec<_> = found.groups.iter().map(group).collect();
        return print(&json!({ "groups": groups, "uncounted": found.uncounted, "asOf": found.as_of }));
    }
    if found.groups.is_empty() {
        println!("There are none.");
    } else {
        let heading = ["type", "code", "items", "jobs", "first seen", "last seen"];
        let row = |group: &failures::Group| {
            let [items, jobs] = [group.items, group.jobs].map(|count| count.to_string());
            let [first, last] = [group.first_seen, group.last_seen].map(failures::time);
            [group.job_type.clone(), group.code.clone(), items, jobs, first, last]
        };
        print!("{}", table::render(heading, found.groups.iter().map(row)));
        println!("\nRetry a group with `longshore operations retry --type TYPE --code CODE --reason TEXT`.");
    }
    if found.uncounted > 0 {
        println!("{} more items have failed whose code is not known.", found.uncounted);
    }
    Ok(())
}

fn print_handlers(api: &Api, as_json: bool) -> Result<()> {
    let path = |cursor: Option<&str>| Filter::default().path("handlers", &[("limit", Some("50"))], cursor);
    let handlers = entries(api, HANDLERS, usize::MAX, path)?;
    let heading = ["name", "status", "breaker", "since", "permits", "items/s", "parked"];
    print_list(&handlers, as_json.then_some("handlers"), heading, handler)
}

fn print_log(api: &Api, list: &List) -> Result<()> {
    let size = list.limit.min(50).to_string();
    let path = |cursor: Option<&str>| Filter::default().path("log", &[("limit", Some(&size))], cursor);
    let log = entries(api, LOG, list.limit, path)?;
    let heading = ["time", "operator", "action", "concerns", "reason", "result"];
    print_list(&log, list.json.then_some("entries"), heading, log_entry)
}

fn job(job: &Value) -> [String; 7] {
    let status = match job["waitingFor"]["reason"].as_str() {
        Some(reason) => format!("{} ({reason})", text(&job["status"])),
        None => text(&job["status"]),
    };
    [
        text(&job["jobId"]),
        text(&job["tenant"]),
        text(&job["jobType"]),
        status,
        text(&job["itemCount"]),
        text(&job["counts"]["failed"]),
        text(&job["createdAt"]),
    ]
}

fn queue(queue: &Value) -> [String; 5] {
    ["queue", "visible", "inFlight", "delayed", "oldestSeconds"].map(|name| text(&queue[name]))
}

fn handler(handler: &Value) -> [String; 7] {
    let more = if handler["hasMoreParkedChunks"] == true { "+" } else { "" };
    [
        text(&handler["name"]),
        text(&handler["status"]),
        text(&handler["breaker"]["state"]),
        text(&handler["breaker"]["openSince"]),
        format!("{} of {}", text(&handler["permitsInUse"]), text(&handler["concurrencyNow"])),
        text(&handler["itemsPerSecond"]),
        format!("{}{more}", text(&handler["parkedChunks"])),
    ]
}

fn log_entry(entry: &Value) -> [String; 6] {
    let scope = &entry["scope"];
    let jobs = scope["jobIds"].as_array().map_or(0, Vec::len);
    let names = ["letterId", "code", "jobType", "tenant"].map(|name| &scope[name]);
    let named = names.into_iter().chain([&scope["jobIds"][0]]).find_map(Value::as_str);
    let concerns = match (named, jobs) {
        (Some(named), 0 | 1) => named.to_owned(),
        (Some(named), jobs) => format!("{named}, {jobs} jobs"),
        (None, _) => "-".to_owned(),
    };
    // Not the name alone: its bearer may be able to choose it.
    let operator = match entry["operatorName"].as_str() {
        Some(name) => format!("{name} ({})", text(&entry["operator"])),
        None => text(&entry["operator"]),
    };
    let result = match entry["result"]["detail"].as_str() {
        Some(detail) => detail.to_owned(),
        None => "unknown".to_owned(),
    };
    [text(&entry["at"]), operator, text(&entry["action"]), concerns, text(&entry["reason"]), result]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_rows() {
        let waits = json!({ "jobId": "j", "tenant": "acme", "jobType": "invite", "status": "running", "itemCount": 7,
            "counts": null, "waitingFor": { "reason": "rate_limit" }, "createdAt": "t" });
        assert_eq!(job(&waits), ["j", "acme", "invite", "running (rate_limit)", "7", "-", "t"]);
        let open = json!({ "name": "invite", "status": "active",
            "breaker": { "state": "unreachable", "openSince": "t" }, "permitsInUse": 1, "concurrencyNow": 5, "itemsPerSecond": null, "parkedChunks": 40,
            "hasMoreParkedChunks": true });
        assert_eq!(handler(&open), ["invite", "active", "unreachable", "t", "1 of 5", "-", "40+"]);
        let retried = json!({ "at": "t", "operator": "o", "operatorName": null, "action": "retryFailures",
            "reason": "r", "scope": { "code": "late", "jobIds": ["a", "b"] }, "result": null });
        assert_eq!(log_entry(&retried), ["t", "o", "retryFailures", "late, 2 jobs", "r", "unknown"]);
        let named = json!({ "at": "t", "operator": "o", "operatorName": "Olga", "action": "resume", "reason": "r",
            "scope": { "tenant": "acme" }, "result": { "detail": "ended" } });
        assert_eq!(log_entry(&named), ["t", "Olga (o)", "resume", "acme", "r", "ended"]);
    }
}
