//! `schedules`: jobs that start at times.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use serde_json::Value;

use crate::connection::ConnectionOptions;
use crate::output::documents::{apply, delete, path, print, print_list, text};
use crate::output::exit::CODES;
use crate::output::pages::{List, all};

/// Options of `schedules`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Subcommand)]
enum Action {
    /// List the schedules, with their next times
    #[command(after_help = CODES)]
    List {
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a schedule as JSON
    #[command(after_help = CODES)]
    Get {
        /// Id of the schedule, as `list` prints it
        schedule: String,
    },
    /// Create a schedule, or with --id replace one, from a file with the API's request as JSON; `-` reads standard input
    #[command(after_help = CODES)]
    Apply {
        /// File with the API's request as JSON; `-` reads standard input
        file: PathBuf,
        /// Schedule to replace
        #[arg(long, value_name = "SCHEDULE")]
        id: Option<String>,
    },
    /// Start the schedule's job now
    #[command(after_help = CODES)]
    Trigger {
        /// Id of the schedule, as `list` prints it
        schedule: String,
    },
    /// List what became of each time: a job, or the reason why there is none
    #[command(after_help = CODES)]
    Occurrences {
        /// Id of the schedule, as `list` prints it
        schedule: String,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a schedule; its jobs stay
    #[command(after_help = CODES)]
    Delete {
        /// Id of the schedule, as `list` prints it
        schedule: String,
    },
}

const PATH: &str = "/api/schedules";

const SCHEDULES: List = List { action: "listing the schedules", member: "schedules" };
const OCCURRENCES: List = List { action: "listing the occurrences", member: "occurrences" };

/// Runs the command.
///
/// # Errors
/// If the API refuses the call.
pub fn run(options: &Options) -> Result<()> {
    let api = options.connection.api(None)?;
    match &options.action {
        Action::List { json } => {
            let schedules = all(&api, SCHEDULES, PATH)?;
            print_list(&schedules, json.then_some("schedules"), ["id", "name", "when", "state", "next"], row)
        }
        Action::Get { schedule } => print(&api.get(&path(PATH, schedule), "reading the schedule")?),
        Action::Apply { file, id } => apply(&api, PATH, id.as_deref(), file, "storing the schedule"),
        Action::Trigger { schedule } => {
            let job = api.post(&format!("{}/trigger", path(PATH, schedule)), None, "starting the job")?;
            println!("{}", text(&job["jobId"]));
            Ok(())
        }
        Action::Occurrences { schedule, json } => {
            let path = format!("{}/occurrences", path(PATH, schedule));
            let found = all(&api, OCCURRENCES, &path)?;
            print_list(&found, json.then_some("occurrences"), ["scheduled", "result", "job", "reason"], occurrence)
        }
        Action::Delete { schedule } => delete(&api, PATH, schedule, "deleting the schedule"),
    }
}

fn row(schedule: &Value) -> [String; 5] {
    let when = match (&schedule["cron"], &schedule["everyMinutes"], &schedule["at"]) {
        (Value::String(cron), ..) => format!("{cron} {}", text(&schedule["timeZone"])),
        (_, Value::Number(minutes), _) => format!("every {minutes} minutes"),
        (.., at) => format!("at {}", text(at)),
    };
    let state = if schedule["paused"] == true { "paused" } else { "active" };
    let next = &schedule["nextTimes"][0];
    let next = if next.is_object() { &next["at"] } else { next };
    [text(&schedule["scheduleId"]), text(&schedule["name"]), when, state.to_owned(), text(next)]
}

fn occurrence(occurrence: &Value) -> [String; 4] {
    let reason = ["reason", "detail", "code"].map(|name| &occurrence[name]).into_iter().find(|value| value.is_string());
    [
        text(&occurrence["scheduledAt"]),
        text(&occurrence["result"]),
        text(&occurrence["jobId"]),
        text(reason.unwrap_or(&Value::Null)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schedule_is_a_row() {
        let schedule = json!({ "scheduleId": "s", "name": "nightly", "cron": "30 2 * * *", "timeZone": "Europe/Berlin",
            "everyMinutes": null, "paused": true, "nextTimes": [] });
        assert_eq!(row(&schedule), ["s", "nightly", "30 2 * * * Europe/Berlin", "paused", "-"]);
        let schedule = json!({ "everyMinutes": 5, "nextTimes": [{ "at": "t" }] });
        assert_eq!(row(&schedule)[2..], ["every 5 minutes", "active", "t"]);
    }
}
