//! Messages that are lost while the sweeper's schedule is stopped: the jobs make no progress, and end after the start
//! of the schedule.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::crafted::{unsent_chunks, unsent_job};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;

use super::jobs::{Outcome, ROWS, finish, patient};
use super::stacks::{own, record_outcome};
use crate::sample::Sample;

/// Time without progress: three times the sweeper's stall time.
const STILL: Duration = Duration::from_secs(15);

/// The same time after the schedule has run. It is longer than the schedule's minute, to show that the schedule is
/// stopped.
const STILL_AFTER_A_START: Duration = Duration::from_secs(75);

/// Jobs with lost messages: id and file of each.
type Lost = Vec<(String, Sample)>;

#[test]
fn jobs_with_lost_messages_wait_while_the_schedule_is_stopped_and_end_after_its_start() {
    let Some(stack) = own(&[]) else { return };
    let mut outcome = Outcome::default();
    let times = if measurements::is_complete_run() { [STILL, STILL_AFTER_A_START].as_slice() } else { &[STILL] };
    for still in times {
        outcome.add(stopped_and_started(&stack, *still).unwrap_or_else(|error| panic!("{error:?}")));
    }
    let command = "cargo test -p longshore-tests --test proof jobs_with_lost_messages";
    record_outcome("schedule stopped and started", &times.len(), &outcome, command);
}

fn stopped_and_started(stack: &Stack, still: Duration) -> Result<Outcome> {
    stack.stop_schedule()?;
    let lost = lost(stack)?;
    assert_no_progress(stack, &lost, still)?;
    stack.start_schedule()?;
    let (mut outcome, client) = (Outcome::default(), patient(stack));
    for (id, sample) in &lost {
        outcome.add(Outcome::new(finish(stack, &client, id, sample)));
    }
    Ok(outcome)
}

/// Creates a job without its create message, and a job without its chunk messages.
fn lost(stack: &Stack) -> Result<Lost> {
    let [first, second] = ["create", "chunks"].map(|kind| Sample::insert(&format!("lost-{kind}-{}", nonce()), ROWS));
    let create = unsent_job(stack, "import", &first.file, &first.options())?;
    let (chunks, _) = unsent_chunks(stack, "import", &second.file, &second.options(), 300)?;
    Ok(vec![(create.job_id.to_string(), first), (chunks.job_id.to_string(), second)])
}

fn assert_no_progress(stack: &Stack, lost: &Lost, still: Duration) -> Result<()> {
    let until = Instant::now() + still;
    while Instant::now() < until {
        for (id, _) in lost {
            let job = Watch::new(stack, id).poll()?;
            ensure!(job["itemProgress"] == 0, "a job with lost messages has made progress: {job}");
        }
        std::thread::sleep(Duration::from_millis(250));
    }
    Ok(())
}
