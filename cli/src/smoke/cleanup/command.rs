//! The process that cleans up.

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};
use std::time::Instant;

use anyhow::Result;

use super::job::{HttpApi, Jobs};
use super::message::{Deployment, Kind, Message};
use super::order::remove_all;
use super::stored;
use crate::aws::pool;
use crate::aws::session::Session;

/// Runs the hidden command: waits for the end of the input, and removes what it named. Returns false if something is
/// left.
///
/// # Errors
/// If the input cannot be read.
pub fn run() -> Result<bool> {
    let (mut deployment, mut named) = (Deployment::default(), BTreeMap::new());
    for line in stdin().lock().lines() {
        match serde_json::from_str(&line?) {
            Ok(Message::Deployment(described)) => deployment = described,
            Ok(Message::Made(kind, id)) => {
                named.insert(kind, id);
            }
            // Not the text, which may hold a token.
            Err(error) => eprintln!("a message that cannot be read: {error}"),
        }
    }
    if named.is_empty() {
        return Ok(true);
    }
    // Printed here and not by the test, because after Ctrl-C only this process is left.
    println!("\nRemoving what was made:");
    let left = remove_all(&named, &|kind, id| remove(&deployment, kind, id), &mut |reported| match reported {
        Ok(removed) => println!("  {removed}"),
        Err(failure) => eprintln!("  {failure}"),
    });
    Ok(left.is_empty())
}

fn remove(deployment: &Deployment, kind: Kind, id: &str) -> Result<()> {
    if kind == Kind::Job {
        let api = HttpApi::new(&deployment.api, deployment.token.as_deref());
        return Jobs { api: &api, clock: &Instant::now() }.remove(id);
    }
    let session = Session::open(deployment.endpoint.as_deref())?;
    match kind {
        Kind::Upload => session.wait(stored::remove_upload(session.config(), deployment, id)),
        Kind::Dataset => session.wait(stored::remove_dataset(session.config(), deployment, id)),
        Kind::Job | Kind::User => {
            session.wait(pool::delete_user(session.config(), deployment.output("UserPoolId")?, id))
        }
    }
}
