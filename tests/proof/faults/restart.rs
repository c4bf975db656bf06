//! Stop and start of the emulator while jobs run: every function dies at once, calls in flight have no response, and
//! messages in flight are redelivered late.

use anyhow::{Result, ensure};
use longshore_domain::ids::nonce;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Watch, is_final};

use super::jobs::{Outcome, ROWS, finish, patient, sweeping};
use super::stacks::{own, record_outcome};
use crate::sample::Sample;

/// Restarts in the complete set. The jobs have progressed further at each.
const RESTARTS: u64 = 3;

#[test]
fn an_emulator_restarted_in_the_middle_of_jobs_loses_no_row() {
    let Some(mut stack) = own(true, &[]) else { return };
    let restarts = if measurements::is_whole() { RESTARTS } else { 1 };
    let outcome = jobs_through(&mut stack, restarts).unwrap_or_else(|error| panic!("{error:?}"));
    let again = "cargo test -p longshore-tests --test proof an_emulator_restarted";
    record_outcome("emulator restarted in the middle of jobs", &restarts, &outcome, again);
}

/// Runs jobs through restarts. New jobs begin before each restart, and the restart comes when some of their rows are
/// done and others are not.
fn jobs_through(stack: &mut Stack, restarts: u64) -> Result<Outcome> {
    let (mut jobs, client) = (Vec::new(), patient(stack));
    for _ in 0..restarts {
        for _ in 0..3 {
            let sample = Sample::insert(&format!("restarted-{}", nonce()), ROWS);
            jobs.push((client.start_once("import", &sample.file, &sample.options())?, sample));
        }
        let newest = jobs.last().map(|(id, _)| id.clone()).unwrap_or_default();
        let seen = Watch::new(stack, &newest).until("begun", |job| job["itemProgress"].as_u64() > Some(0))?;
        ensure!(!is_final(&seen["status"]), "the job was over before it could be interrupted: {seen}");
        stack.restart()?;
    }
    let mut outcome = Outcome::default();
    sweeping(stack, || {
        for (id, sample) in &jobs {
            outcome.add(Outcome::new(finish(stack, &client, (id, sample))));
        }
    });
    Ok(outcome)
}
