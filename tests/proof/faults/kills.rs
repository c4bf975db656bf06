//! Kills of function processes at random moments, as the kernel kills them when memory runs out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use longshore_domain::ids::nonce;
use longshore_tests::harness::children::kill;
use longshore_tests::harness::stack::Stack;

use super::jobs::{Variant, work};
use super::stacks::{faulty, record_outcome};

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
    let (mut chance, mut killed, began) = (Chance(seed), 0, Instant::now());
    while killed < deaths && !over.load(Ordering::Relaxed) && began.elapsed() < SEASON {
        std::thread::sleep(Duration::from_millis(chance.below(INTERVAL_MS)));
        let victim = VICTIMS[chance.below(VICTIMS.len() as u64) as usize];
        let mut processes = stack.processes(victim)?;
        processes.sort_unstable();
        if let Some(process) = processes.get(chance.below(processes.len().max(1) as u64) as usize) {
            killed += u64::from(kill(*process).is_ok());
        }
    }
    Ok(killed)
}

fn fresh_seed() -> u64 {
    nonce().bytes().fold(0, |seed, byte| seed << 5 | u64::from(byte & 31))
}

/// The random generator SplitMix64, for which every seed is good.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}
