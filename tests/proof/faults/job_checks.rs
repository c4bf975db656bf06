//! The events and the removal of a job that has ended.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::event::{Event, EventsQuery};
use longshore_domain::ports::Events;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::backdoor::{items, objects};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;

/// Maximum time for the removal of a deleted job, on a busy machine and with late calls.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(120);

/// Maximum time until the events of a job are listed, after its end: the next sweeps move them.
const EVENTS_PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the events of the start and of the end of a job are listed. Returns a violation if one is listed twice.
pub(super) fn check_events(stack: &Stack, id: &str) -> Result<Option<String>> {
    let deadline = Instant::now() + EVENTS_PATIENCE;
    loop {
        // A read can fail while the emulator restarts.
        let listed = listed_events(stack, id).unwrap_or_default();
        let count = |is_end| listed.iter().filter(|event| event.event_type().is_end() == is_end).count();
        match (count(false), count(true)) {
            (1, 1) => return Ok(None),
            (0 | 1, 0 | 1) => ensure!(Instant::now() < deadline, "job {id} has only the events {listed:?}"),
            _ => return Ok(Some(format!("job {id} has an event twice: {listed:?}"))),
        }
        thread::sleep(Duration::from_millis(500));
    }
}

fn listed_events(stack: &Stack, id: &str) -> Result<Vec<Event>> {
    let (store, tenant) = (stack.store()?, TenantId::parse(&stack.tenant).context("the tenant has a bad name")?);
    let (mut events, mut after) = (Vec::new(), None);
    loop {
        let query =
            EventsQuery { tenant: &tenant, after: after.as_ref(), before: Timestamp::now().plus_days(1), limit: 500 };
        let page = stack.run(store.events(&query))?;
        let Some(last) = page.last() else { return Ok(events) };
        after = Some(last.position.clone());
        events.extend(
            page.into_iter()
                .map(|listed| listed.event)
                .filter(|event| event.job().is_some_and(|job| job.job_id.to_string() == id)),
        );
    }
}

/// Deletes a job, and waits until the sweeper has removed it.
pub(super) fn delete(stack: &Stack, client: &Client, id: &str) -> Result<()> {
    let deadline = Instant::now() + REMOVAL_PATIENCE;
    loop {
        let is_deleted = client.delete(id).is_ok_and(|answer| matches!(answer.status, 204 | 404));
        let left = (objects(stack, &format!("jobs/{}/{id}/", stack.tenant))?, items(stack, &format!("JOB#{id}"))?);
        if is_deleted && left.0.is_empty() && left.1.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("job {id} was deleted, but these objects and items are left: {left:?}");
        }
        thread::sleep(Duration::from_millis(100));
    }
}
