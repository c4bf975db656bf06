//! Losses: killed function processes, restarts of the emulator, and lost messages. No row is lost.
//!
//! Kills of function processes at random times, as the kernel kills them when memory runs out.
//!
//! Restarts of the emulator while jobs run: every function dies, calls in flight have no response, and messages in
//! flight are redelivered late.
//!
//! Messages that are lost while the sweeper's schedule is stopped: the jobs make no progress, and end after the start
//! of the schedule.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fastrand::Rng;
use local_cloud::process::kill;
use longshore_domain::random::nonce;
use longshore_tests::harness::backdoor::{unsent_chunks, unsent_job};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::{Watch, is_final};

use super::jobs::{
    Outcome, ROWS, Variant, faulty, finish, own, own_restartable, patient, record_outcome, sweeping, work,
};
use crate::sample::Sample;

/// Environment variable with the seed of an earlier run. Its kills are repeated as far as the machine's timing allows.
pub(crate) const SEED: &str = "LONGSHORE_SEED";

/// The functions that are killed. Workers are listed twice, because they have the most state in progress.
pub(super) const VICTIMS: [Victim; 7] = [
    Victim::Output("UploadFunctionName"),
    Victim::Output("JobsApiFunctionName"),
    Victim::Output("CreateJobFunctionName"),
    Victim::Output("ProcessItemFunctionName"),
    Victim::Output("ProcessItemFunctionName"),
    Victim::Output("CompleteJobFunctionName"),
    Victim::Output("SweepFunctionName"),
];

/// Maximum interval between two kills in jobs over files.
pub(super) const INTERVAL_MS: u64 = 300;

/// Maximum duration of the kills. A killed function's message is redelivered after half a minute, so more kills would
/// only prolong the jobs.
const MAX_DURATION: Duration = Duration::from_secs(45);

#[test]
fn no_row_is_lost_when_functions_are_killed_at_random() {
    let Some(stack) = faulty() else { return };
    let seed = seed();
    let variants = [Variant::Plain, Variant::Deleted].repeat(if measurements::is_complete_run() { 6 } else { 2 });
    let kills = if measurements::is_complete_run() { 60 } else { 15 };
    let killed = work(&stack, &variants, |over| {
        kill_some(&stack, over, Kills { seed, max: kills, interval_ms: INTERVAL_MS, victims: &VICTIMS })
    });
    let (mut outcome, killed) = killed.unwrap_or_else(|error| panic!("{error:?}"));
    if killed == 0 {
        outcome.violations.push("no process was killed".into());
    }
    let command = format!("{SEED}={seed} cargo test -p longshore-tests --test proof functions_are_killed_at_random");
    record_outcome("function processes killed", &killed, &outcome, &command);
}

/// Seed, maximum number and maximum interval of the kills, and the functions.
pub(super) struct Kills {
    pub(super) seed: u64,
    pub(super) max: u64,
    pub(super) interval_ms: u64,
    pub(super) victims: &'static [Victim],
}

/// A function whose processes are killed.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Victim {
    /// The stack's output with its name.
    Output(&'static str),
    /// Its name.
    Function(&'static str),
}

/// Kills processes until the jobs are over. Returns the number of killed processes.
pub(super) fn kill_some(stack: &Stack, over: &AtomicBool, kills: Kills) -> Result<u64> {
    let killed = Mutex::default();
    kill_and_list(stack, over, kills, &killed)?;
    Ok(list(&killed).len() as u64)
}

/// Kills processes until the jobs are over, and lists their functions. The functions take turns in a random order.
pub(super) fn kill_and_list(stack: &Stack, over: &AtomicBool, kills: Kills, killed: &Mutex<Vec<Victim>>) -> Result<()> {
    let (mut rng, start) = (Rng::with_seed(kills.seed), Instant::now());
    let mut victims = kills.victims.to_vec();
    rng.shuffle(&mut victims);
    for victim in victims.into_iter().cycle() {
        let count = list(killed).len() as u64;
        if count >= kills.max || over.load(Ordering::Relaxed) || start.elapsed() >= MAX_DURATION {
            break;
        }
        std::thread::sleep(Duration::from_millis(rng.u64(..kills.interval_ms)));
        let mut processes = match victim {
            Victim::Output(output) => stack.processes(output)?,
            Victim::Function(name) => stack.processes_of(name),
        };
        processes.sort_unstable();
        if let Some(process) = processes.get(rng.usize(..processes.len().max(1)))
            && kill(*process).is_ok()
        {
            list(killed).push(victim);
        }
    }
    Ok(())
}

/// Returns the functions whose processes were killed.
pub(super) fn list(killed: &Mutex<Vec<Victim>>) -> MutexGuard<'_, Vec<Victim>> {
    killed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the seed of the earlier run that is to be repeated, or a new one.
pub(crate) fn seed() -> u64 {
    let new = || nonce().bytes().fold(0, |seed, byte| seed << 5 | u64::from(byte & 31));
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(new);
    eprintln!("{SEED}={seed}");
    seed
}

/// Number of restarts in the complete set. At each of them, the first jobs have progressed further.
const RESTARTS: u64 = 3;

#[test]
fn no_row_is_lost_when_the_emulator_is_restarted_while_jobs_run() {
    let Some(mut stack) = own_restartable() else { return };
    let restarts = if measurements::is_complete_run() { RESTARTS } else { 1 };
    let outcome = jobs_through(&mut stack, restarts).unwrap_or_else(|error| panic!("{error:?}"));
    let command = "cargo test -p longshore-tests --test proof the_emulator_is_restarted";
    record_outcome("emulator restarted while jobs run", &restarts, &outcome, command);
}

/// Runs jobs across restarts. New jobs begin before each restart, which comes when some of their rows are done.
fn jobs_through(stack: &mut Stack, restarts: u64) -> Result<Outcome> {
    let (mut jobs, client) = (Vec::new(), patient(stack));
    for _ in 0..restarts {
        for _ in 0..3 {
            let sample = Sample::insert(&format!("restarted-{}", nonce()), ROWS);
            jobs.push((client.start_once("import", &sample.file, &sample.options())?, sample));
        }
        let newest = jobs.last().map(|(id, _)| id.clone()).unwrap_or_default();
        let job = Watch::new(stack, &newest).until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
        ensure!(!is_final(&job["status"]), "the job ended before the restart: {job}");
        stack.restart()?;
    }
    let mut outcome = Outcome::default();
    sweeping(stack, || {
        for (id, sample) in &jobs {
            outcome.add(Outcome::new(finish(stack, &client, id, sample)));
        }
    });
    Ok(outcome)
}

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
