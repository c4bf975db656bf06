//! Messages that are lost while the sweeper's schedule is stopped: the jobs make no progress, and after the
//! schedule's start they end.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use longshore_domain::ids::nonce;
use longshore_tests::harness::crafted::{unsent_chunks, unsent_job};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;

use super::jobs::{Outcome, ROWS, finish, patient};
use super::stacks::{own, record_outcome};
use crate::sample::Sample;

/// Time without progress: three times the sweeper's stall time.
const STILL: Duration = Duration::from_secs(15);

/// The same time if the schedule ran before. It is longer than the schedule's minute, to show that the schedule is
/// stopped.
const STILL_AFTER_A_START: Duration = Duration::from_secs(75);

type Lost = Vec<(String, Sample)>;

#[test]
fn jobs_whose_messages_were_lost_wait_while_the_schedule_is_stopped_and_end_once_it_is_started() {
    let Some(stack) = own(false, &[]) else { return };
    let mut outcome = Outcome::default();
    let times = if measurements::is_whole() { [STILL, STILL_AFTER_A_START].as_slice() } else { &[STILL] };
    for still in times {
        outcome.add(stopped_and_started(&stack, *still).unwrap_or_else(|error| panic!("{error:?}")));
    }
    let again = "cargo test -p longshore-tests --test proof jobs_whose_messages_were_lost";
    record_outcome("schedule stopped and started", &times.len(), &outcome, again);
}

fn stopped_and_started(stack: &Stack, still: Duration) -> Result<Outcome> {
    stack.stop_schedule()?;
    let lost = lost(stack)?;
    stay(stack, &lost, still)?;
    stack.start_schedule()?;
    let (mut outcome, client) = (Outcome::default(), patient(stack));
    for (id, sample) in &lost {
        outcome.add(Outcome::new(finish(stack, &client, (id, sample))));
    }
    Ok(outcome)
}

/// A job without any message sent, and a job whose chunk messages were not sent.
fn lost(stack: &Stack) -> Result<Lost> {
    let [first, second] = ["create", "chunks"].map(|what| Sample::insert(&format!("lost-{what}-{}", nonce()), ROWS));
    let create = unsent_job(stack, "import", &first.file, &first.options())?;
    let (chunks, _) = unsent_chunks(stack, "import", &second.file, &second.options(), 300)?;
    Ok(vec![(create.job_id.to_string(), first), (chunks.job_id.to_string(), second)])
}

fn stay(stack: &Stack, lost: &Lost, still: Duration) -> Result<()> {
    let until = Instant::now() + still;
    while Instant::now() < until {
        for (id, _) in lost {
            let job = Watch::new(stack, id).look()?;
            ensure!(job["itemProgress"] == 0, "a job whose messages were lost went on by itself: {job}");
        }
        std::thread::sleep(Duration::from_millis(250));
    }
    Ok(())
}
