//! Kills of function processes at random moments, as the kernel kills them when memory runs out.
//!
//! Stop and start of the emulator while jobs run: every function dies at once, calls in flight have no response, and
//! messages in flight are redelivered late.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fastrand::Rng;
use local_cloud::process::kill;
use longshore_domain::ids::nonce;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Watch, is_final};

use super::jobs::{Outcome, ROWS, Variant, finish, patient, sweeping, work};
use super::stacks::{faulty, own, record_outcome};
use crate::sample::Sample;

/// Environment variable with the seed of an earlier run. Its moments are repeated as far as the machine allows.
const SEED: &str = "LONGSHORE_SEED";

/// Outputs of the functions that are killed. Workers are listed twice, because they have the most state in progress.
const VICTIMS: [&str; 7] = [
    "UploadFunctionName",
    "JobsApiFunctionName",
    "CreateJobFunctionName",
    "ProcessItemFunctionName",
    "ProcessItemFunctionName",
    "CompleteJobFunctionName",
    "SweepFunctionName",
];

/// Maximum interval between two kills.
const INTERVAL_MS: u64 = 300;

/// Maximum time in which processes are killed. A killed function's message is redelivered after half a minute, so
/// more kills would only prolong the jobs.
const SEASON: Duration = Duration::from_secs(45);

#[test]
fn functions_killed_at_random_lose_no_row() {
    let Some(stack) = faulty() else { return };
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(fresh_seed);
    eprintln!("{SEED}={seed}");
    let variants = [Variant::Plain, Variant::Deleted].repeat(if measurements::is_whole() { 6 } else { 2 });
    let deaths = if measurements::is_whole() { 60 } else { 15 };
    let killed = work(&stack, &variants, |over| kill_some(&stack, over, (seed, deaths)));
    let (mut outcome, killed) = killed.unwrap_or_else(|error| panic!("{error:?}"));
    if killed == 0 {
        outcome.violations.push("no process was killed".into());
    }
    let again = format!("{SEED}={seed} cargo test -p longshore-tests --test proof functions_killed_at_random");
    record_outcome("function processes killed", &killed, &outcome, &again);
}

fn kill_some(stack: &Stack, over: &AtomicBool, (seed, deaths): (u64, u64)) -> Result<u64> {
    let (mut rng, mut killed, began) = (Rng::with_seed(seed), 0, Instant::now());
    while killed < deaths && !over.load(Ordering::Relaxed) && began.elapsed() < SEASON {
        std::thread::sleep(Duration::from_millis(rng.u64(..INTERVAL_MS)));
        let victim = VICTIMS[rng.usize(..VICTIMS.len())];
        let mut processes = stack.processes(victim)?;
        processes.sort_unstable();
        if let Some(process) = processes.get(rng.usize(..processes.len().max(1))) {
            killed += u64::from(kill(*process).is_ok());
        }
    }
    Ok(killed)
}

fn fresh_seed() -> u64 {
    nonce().bytes().fold(0, |seed, byte| seed << 5 | u64::from(byte & 31))
}

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
