//! The list of events, as a client reads it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_tests::harness::client::Client;
use serde_json::Value;

/// Returns all events of the caller's tenant, oldest first, page by page.
pub(crate) fn events(client: &Client) -> Result<Vec<Value>> {
    let (mut events, mut path) = (Vec::new(), "/api/events?limit=500".to_owned());
    loop {
        let page = client.get(&path)?.expect(200)?;
        let of_page = page["events"].as_array().context("a page without events")?;
        if of_page.is_empty() {
            return Ok(events);
        }
        events.extend(of_page.iter().cloned());
        path = format!("/api/events?limit=500&cursor={}", page["nextCursor"].as_str().context("no cursor")?);
    }
}

/// Waits until an event of a job is listed, and checks that it is listed once.
pub(crate) fn await_event(client: &Client, job: &str, event_type: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let all = events(client)?;
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
