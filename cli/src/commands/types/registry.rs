//! `types list`, `get`, `apply` and `delete`: the registered job types.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::api::Api;
use crate::output::documents::{self, path, print, print_list, read, text};
use crate::output::exit::{CommandError, Exit};
use crate::output::pages::{List, all};

/// Time in which the check of a candidate ends.
const CHECK_TIMEOUT: Duration = Duration::from_secs(180);

/// Delay between two looks at a candidate.
const POLL: Duration = Duration::from_secs(1);

const PATH: &str = "/api/job-types";

const JOB_TYPES: List = List { action: "listing the job types", member: "jobTypes" };

/// Prints the registered job types.
pub(super) fn list(api: &Api, as_json: bool) -> Result<()> {
    let types = all(api, JOB_TYPES, PATH)?;
    print_list(&types, as_json.then_some("jobTypes"), ["name", "status", "handler", "candidate"], row)
}

/// Prints a job type.
pub(super) fn get(api: &Api, name: &str) -> Result<()> {
    print(&api.get(&path(PATH, name), "reading the job type")?)
}

/// Registers or changes a job type, and waits until its handler was checked.
///
/// # Errors
/// If the handler is refused.
pub(super) fn apply(api: &Api, name: &str, file: &Path) -> Result<()> {
    let action = "storing the job type";
    api.change("PUT", &path(PATH, name), Some(&read(file)?), action)?.success(action)?;
    eprintln!("  Checking the handler of {name}...");
    let start = Instant::now();
    loop {
        let job_type = api.get(&path(PATH, name), "reading the job type")?;
        let candidate = &job_type["candidate"];
        if candidate.is_null() {
            println!("{name}: {}", text(&job_type["status"]));
            return Ok(());
        }
        if candidate["status"] == "refused" {
            let reason = text(&candidate["reason"]);
            let hint = format!("the handler is refused: {reason}\n`longshore types check` tells more");
            return Err(CommandError::new(Exit::Failed, hint).into());
        }
        if start.elapsed() > CHECK_TIMEOUT {
            let hint = format!("the handler is still being checked: `longshore types get {name}` shows the outcome");
            return Err(CommandError::new(Exit::TimedOut, hint).into());
        }
        sleep(POLL);
    }
}

/// Deletes a job type.
pub(super) fn delete(api: &Api, name: &str) -> Result<()> {
    documents::delete(api, PATH, name, "deleting the job type")
}

fn row(job_type: &Value) -> [String; 4] {
    let target = &job_type["target"];
    let handler = ["url", "function", "arn"].map(|name| &target[name]).into_iter().find(|value| value.is_string());
    [
        text(&job_type["name"]),
        text(&job_type["status"]),
        text(handler.unwrap_or(&Value::Null)),
        text(&job_type["candidate"]["status"]),
    ]
}
