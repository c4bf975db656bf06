//! Functions of the previous release beside those of this one, in one stack, under load.
//!
//! A deployment replaces the functions one by one, and so does a rollback. In between, a message of one version is
//! received by the other, and both read and write the same items and files. At the start, a random half of the functions
//! is that of the previous release. Then each is swapped, in a random order, several times in both directions, while
//! [`jobs`] of several tenants run. Each job ends with exact results, and its audit finds no difference.
//!
//! `cargo xtask prove versions` builds the previous release. A plain test run has no reduced set.

mod jobs;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fastrand::Rng;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::versions::{Binaries, Version};

use self::jobs::{PARAMETERS, Tally, Workload};
use crate::faults::jobs::{has_own_emulator, sweeping};
use crate::faults::losses::{SEED, seed};

/// Number of swaps of each function: half of them to the previous release, and half of them back.
const ROUNDS: usize = 4;

/// Maximum pause between two swaps.
const MAX_PAUSE_MS: u64 = 3_000;

/// Number of concurrent callers, each for a tenant of its own.
const CALLERS: usize = 6;

#[test]
fn jobs_are_exact_while_every_function_changes_its_version_in_both_directions() {
    let Some(previous) = std::env::var_os(measurements::PREVIOUS_RELEASE) else {
        return measurements::skipped("it needs the functions of the previous release: run cargo xtask prove versions");
    };
    if !has_own_emulator() {
        return;
    }
    let (seed, started) = (seed(), Instant::now());
    let stack = Stack::start(&StackOptions { parameters: PARAMETERS.to_vec(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let measured = Binaries::new(previous.into()).and_then(|binaries| run(&stack, &binaries, seed));
    let Measured { to_previous, to_current, tally } =
        measured.unwrap_or_else(|error| panic!("{SEED}={seed}: {error:?}\n{}", stack.log_tail(60)));
    let name = std::env::var(measurements::PREVIOUS_RELEASE_NAME).unwrap_or_default();
    measurements::row(
        "versions",
        &[
            ("previous release", &name),
            ("swaps to it", &to_previous),
            ("swaps back", &to_current),
            ("jobs", &tally.jobs),
            ("rows", &tally.rows),
            ("audits", &tally.audits),
            ("seconds", &started.elapsed().as_secs()),
            ("violations", &tally.violations.len()),
        ],
    );
    let list = tally.violations.join("\n");
    assert!(tally.violations.is_empty(), "{list}\nto reproduce: {SEED}={seed} cargo xtask prove versions");
}

/// Number of swaps in each direction, and the jobs meanwhile.
struct Measured {
    to_previous: usize,
    to_current: usize,
    tally: Tally,
}

/// Swaps the functions while callers create jobs. Ends when each function was swapped, and each job has ended.
fn run(stack: &Stack, binaries: &Binaries, seed: u64) -> Result<Measured> {
    ensure!(binaries.names.len() > 1, "the previous release has no functions: {:?}", binaries.names);
    let workload = Workload::prepare(stack)?;
    let clients: Result<Vec<_>> = (0..CALLERS).map(|n| workload.client(&format!("tenant-{n}"))).collect();
    let (clients, over) = (clients?, AtomicBool::new(false));
    let mut fleet = Fleet::mixed(stack, binaries, seed)?;
    let (swapped, tally) = sweeping(stack, || {
        thread::scope(|scope| {
            let (workload, over) = (&workload, &over);
            let call = |(number, client)| scope.spawn(move || workload.run(client, number, over));
            let callers: Vec<_> = clients.iter().enumerate().map(call).collect();
            let swapped = fleet.swap_all();
            over.store(true, Ordering::Relaxed);
            let mut tally = Tally::default();
            for caller in callers {
                tally.add(caller.join().unwrap_or_else(|_| Tally::violation("a caller has panicked".to_owned())));
            }
            (swapped, tally)
        })
    });
    swapped?;
    let Fleet { to_previous, to_current, .. } = fleet;
    Ok(Measured { to_previous, to_current, tally })
}

/// The functions that are swapped, and their versions.
struct Fleet<'a> {
    stack: &'a Stack,
    binaries: &'a Binaries,
    rng: Rng,
    versions: BTreeMap<&'a str, Version>,
    to_previous: usize,
    to_current: usize,
}

impl<'a> Fleet<'a> {
    /// Replaces a random half of the functions by those of the previous release.
    fn mixed(stack: &'a Stack, binaries: &'a Binaries, seed: u64) -> Result<Self> {
        let versions = binaries.names.iter().map(|name| (name.as_str(), Version::Current)).collect();
        let (rng, to_previous, to_current) = (Rng::with_seed(seed), 0, 0);
        let mut fleet = Self { stack, binaries, rng, versions, to_previous, to_current };
        let names = fleet.shuffled();
        for name in names.iter().take(names.len() / 2).copied() {
            fleet.swap(name)?;
        }
        eprintln!("versions at the start: {:?}", fleet.versions);
        (fleet.to_previous, fleet.to_current) = (0, 0);
        Ok(fleet)
    }

    fn shuffled(&mut self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.versions.keys().copied().collect();
        self.rng.shuffle(&mut names);
        names
    }

    /// Swaps every function once in each round.
    fn swap_all(&mut self) -> Result<()> {
        for _ in 0..ROUNDS {
            for name in self.shuffled() {
                thread::sleep(Duration::from_millis(self.rng.u64(..MAX_PAUSE_MS)));
                self.swap(name)?;
            }
        }
        Ok(())
    }

    fn swap(&mut self, name: &'a str) -> Result<()> {
        let version = self.versions.get(name).copied().unwrap_or(Version::Current).other();
        self.stack.replace_code(self.binaries, name, version)?;
        self.versions.insert(name, version);
        match version {
            Version::Previous => self.to_previous += 1,
            Version::Current => self.to_current += 1,
        }
        Ok(())
    }
}
