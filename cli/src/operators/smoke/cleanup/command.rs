//! The process that removes the test data.

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::order::remove_all;
use super::process::{Deployment, Kind, METADATA, Message};
use super::stored;
use crate::api::{Api, JobRemoval};
use crate::aws::pool;
use crate::aws::session::Session;
use crate::commands::jobs::jobs_with_metadata;

/// Number of times that a job whose creation was not answered is looked for: the call can still be under way.
const SEARCHES: u32 = 5;

/// Time before each of them, in which a job appears in the list of jobs.
const LIST_DELAY: Duration = Duration::from_secs(1);

/// Runs the hidden command: reads its input until the end, and removes the test data that it lists. Returns false if
/// something could not be removed.
///
/// # Errors
/// If the input cannot be read.
pub fn run() -> Result<bool> {
    let (mut deployment, mut resources) = (Deployment::default(), BTreeMap::new());
    let mut is_complete = true;
    for line in stdin().lock().lines() {
        match serde_json::from_str(&line?) {
            Ok(Message::Deployment(new)) => deployment = new,
            Ok(Message::Resource(kind, id)) => {
                resources.insert(kind, id);
            }
            // The text is not printed, because it can contain a token.
            Err(error) => {
                is_complete = false;
                eprintln!("cannot read a message, so test data may be left: {error}");
            }
        }
    }
    if resources.is_empty() {
        return Ok(is_complete);
    }
    // Printed by this process, because after Ctrl-C the test no longer runs.
    println!("\nRemoving the test data:");
    let left = remove_all(&resources, &|kind, id| remove(&deployment, kind, id), &mut |report| match report {
        Ok(removal) => println!("  {removal}"),
        Err(failure) => eprintln!("  {failure}"),
    });
    Ok(is_complete && left.is_empty())
}

/// Removes a resource. Returns what was removed; `None` if there was nothing.
fn remove(deployment: &Deployment, kind: Kind, id: &str) -> Result<Option<String>> {
    let open = || Session::open(deployment.endpoint.as_deref());
    match kind {
        Kind::Job => JobRemoval::new(&api(deployment), &Instant::now()).remove_job(id)?,
        Kind::UnansweredJob => return remove_unanswered_job(deployment, id),
        Kind::Upload => {
            let session = open()?;
            session.block_on(stored::remove_upload(session.config(), deployment, id))?;
        }
        Kind::Dataset => {
            let session = open()?;
            session.block_on(stored::remove_dataset(session.config(), deployment, id))?;
        }
        Kind::User => {
            let session = open()?;
            session.block_on(pool::delete_user(session.config(), deployment.output("UserPoolId")?, id))?;
        }
    }
    Ok(Some(format!("{kind} {id}")))
}

/// Removes the job of a test. Returns it; `None` if the list of jobs does not have it.
fn remove_unanswered_job(deployment: &Deployment, test: &str) -> Result<Option<String>> {
    let (api, start) = (api(deployment), Instant::now());
    for _ in 0..SEARCHES {
        sleep(LIST_DELAY);
        let jobs = jobs_with_metadata(&api, METADATA, test)?;
        let ids: Vec<_> = jobs.iter().filter_map(|job| job["jobId"].as_str()).collect();
        if !ids.is_empty() {
            let removal = JobRemoval::new(&api, &start);
            ids.iter().try_for_each(|id| removal.remove_job(id).with_context(|| (*id).to_owned()))?;
            return Ok(Some(format!("job {}", ids.join(", "))));
        }
    }
    Ok(None)
}

fn api(deployment: &Deployment) -> Api {
    Api::new(&deployment.api, deployment.token.as_deref())
}
