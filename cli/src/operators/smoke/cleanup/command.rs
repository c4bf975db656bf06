//! The process that removes the test data.

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};
use std::time::Instant;

use anyhow::Result;

use super::order::remove_all;
use super::process::{Deployment, Kind, Message};
use super::stored;
use crate::api::{Api, JobRemoval};
use crate::aws::pool;
use crate::aws::session::Session;

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

fn remove(deployment: &Deployment, kind: Kind, id: &str) -> Result<()> {
    if kind == Kind::Job {
        let api = Api::new(&deployment.api, deployment.token.as_deref());
        return JobRemoval::new(&api, &Instant::now()).remove_job(id);
    }
    let session = Session::open(deployment.endpoint.as_deref())?;
    match kind {
        Kind::Upload => session.block_on(stored::remove_upload(session.config(), deployment, id)),
        Kind::Dataset => session.block_on(stored::remove_dataset(session.config(), deployment, id)),
        Kind::Job | Kind::User => {
            session.block_on(pool::delete_user(session.config(), deployment.output("UserPoolId")?, id))
        }
    }
}
