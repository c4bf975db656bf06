//! The separate process.

use std::io::{BufRead, stdin};
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::process::Message;
use super::remove::Leftovers;
use crate::operators::load::tenant::UserConnection;

/// Time in which a job appears in the list of jobs.
const LIST_DELAY: Duration = Duration::from_secs(1);

/// Test data of a tenant.
struct Owned {
    connection: UserConnection,
    leftovers: Leftovers,
}

/// Runs the hidden command: reads its input until the end, and removes what it lists. Returns false if something could
/// not be removed.
///
/// # Errors
/// If the input cannot be read.
pub fn run() -> Result<bool> {
    let (mut tenants, mut is_complete) = (Vec::new(), true);
    for line in stdin().lock().lines() {
        match serde_json::from_str(&line?) {
            Ok(message) => read(&mut tenants, message),
            // The text is not printed, because it can contain a token.
            Err(error) => {
                is_complete = false;
                eprintln!("cannot read a message, so test data may be left: {error}");
            }
        }
    }
    sleep(LIST_DELAY);
    for Owned { connection, leftovers } in tenants {
        // Standard output has the result of the run.
        match connection.api().and_then(|api| leftovers.remove(&api)) {
            Ok(Some(removed)) => eprintln!("  {removed}"),
            Ok(None) => {}
            Err(error) => {
                is_complete = false;
                eprintln!("  NOT removed: {error:#}");
            }
        }
    }
    Ok(is_complete)
}

fn read(tenants: &mut Vec<Owned>, message: Message) {
    match message {
        Message::Tenant { connection, run, dataset } => {
            tenants.push(Owned { connection, leftovers: Leftovers::new(run, dataset) });
        }
        Message::Created { tenant, id } => {
            if let Some(tenant) = tenants.get_mut(tenant) {
                tenant.leftovers.created(id);
            }
        }
        Message::Ended { tenant, id } => {
            if let Some(tenant) = tenants.get_mut(tenant) {
                tenant.leftovers.ended(id);
            }
        }
    }
}
