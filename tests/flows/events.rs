//! The list of events, as a client reads it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use longshore_tests::harness::client::Client;

/// Waits until an event of a job is listed, and checks that it is listed once.
pub(crate) fn await_event(client: &Client, job: &str, event_type: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let all = client.events()?;
        let of_job = all.iter().filter(|event| event["data"]["jobId"] == job && event["type"] == event_type);
        match of_job.count() {
            0 => ensure!(
                started.elapsed() < Duration::from_secs(60),
                "{job} has no event {event_type} among {} events, the last of which is {:?}",
                all.len(),
                all.last()
            ),
            1 => return Ok(()),
            n => bail!("{job} has {n} events {event_type}"),
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
