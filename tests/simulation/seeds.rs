//! Thousands of seeds: no run violates an invariant, unless a condition is removed.
//!
//! `cargo xtask sim` selects the seeds by environment variables. A plain test run uses the first ten thousand.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use measurements::{CONDITIONS, LAYERS};

use crate::expected_faults::{FAULT_KINDS, TRAITS};
use crate::run::{LYING_SEEDS, RunResult, run, violation_of};
use crate::soak::soak;
use crate::stories::SHOWN_BY_STORIES;
use crate::trace::TraceMode;

/// Number of seeds in a test run.
const SEEDS: u64 = 10_000;
/// Number of seeds in a complete run.
const COMPLETE_SEEDS: u64 = 200_000;
/// Number of seeds with only lying handlers in a plain test run.
const LYING_TEST_SEEDS: u64 = 500;
/// Number of seeds within which the removal of any condition must cause a violation.
const MAX_SEEDS_TO_VIOLATION: u64 = 20_000;
/// Number of seeds without a layer in a plain test run.
const LAYER_SEEDS: u64 = 500;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Totals of many runs.
#[derive(Clone, Debug, Default)]
struct Totals {
    seeds: u64,
    calls: u64,
    ends: BTreeMap<&'static str, u64>,
    tally: BTreeMap<&'static str, u64>,
    traits: BTreeMap<&'static str, u64>,
}

impl Totals {
    fn add(&mut self, result: RunResult) {
        self.seeds += 1;
        self.calls += result.calls;
        result.ends.into_iter().for_each(|end| *self.ends.entry(end).or_default() += 1);
        result.traits.into_iter().for_each(|kind| *self.traits.entry(kind).or_default() += 1);
        result.tally.into_iter().for_each(|(kind, count)| *self.tally.entry(kind).or_default() += count);
    }

    fn end(&self, name: &str) -> u64 {
        self.ends.get(name).copied().unwrap_or(0)
    }
}

/// Runs seeds on all processors until one of them violates an invariant. Returns the lowest seed with a violation as an
/// error.
fn run_seeds(from: u64, count: u64, removed_condition: Option<&str>) -> Result<Totals, (u64, String)> {
    let (next, failed, start) = (AtomicU64::new(from), AtomicBool::new(false), Instant::now());
    let totals = Mutex::new((Totals::default(), None::<(u64, String)>));
    let (end, shows_progress) = (from + count, number("LONGSHORE_PROGRESS").is_some());
    let take = |next: u64| (next < end).then(|| next + 1);
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let Ok(seed) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else { return };
            let result = run(seed, removed_condition, TraceMode::Off);
            let (totals, first) = &mut *totals.lock().unwrap();
            match result {
                Ok(result) => totals.add(result),
                Err(violation) if first.as_ref().is_none_or(|(before, _)| seed < *before) => {
                    *first = Some((seed, violation));
                    failed.store(true, Ordering::Relaxed);
                }
                Err(_) => {}
            }
            if shows_progress && totals.seeds.is_multiple_of(1_000) {
                let rate = totals.seeds as f64 / start.elapsed().as_secs_f64();
                eprint!("\r{} of {count} seeds, {rate:.0}/s ", totals.seeds);
            }
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        })
    });
    let (totals, first) = totals.into_inner().unwrap();
    if shows_progress {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!(
            "\r{} seeds in {seconds:.1} s, {:.0}/s, {} calls",
            totals.seeds,
            totals.seeds as f64 / seconds,
            totals.calls
        );
        eprintln!("ends: {:?}\nfaults: {:?}\nruns: {:?}", totals.ends, totals.tally, totals.traits);
    }
    first.map_or(Ok(totals), Err)
}

/// Describes a violation, with the command that reproduces it.
fn describe((seed, violation): (u64, String), removed_condition: Option<&str>) -> String {
    let without = removed_condition.map(|name| format!(" --without {name}")).unwrap_or_default();
    format!("seed {seed}: {violation}\n\n    cargo xtask sim --seed {seed}{without}\n")
}

#[test]
fn with_any_faults_every_response_adds_up_every_job_ends_and_every_row_is_reported_once() {
    let removed_condition = measurements::without();
    let removed_condition = removed_condition.as_deref();
    if let Some(seed) = number("LONGSHORE_SEED") {
        return run(seed, removed_condition, TraceMode::Printed)
            .map(drop)
            .unwrap_or_else(|violation| panic!("{}", describe((seed, violation), removed_condition)));
    }
    // Random runs rarely detect that one of these is missing.
    if let Some((_, story)) = SHOWN_BY_STORIES.iter().find(|(name, _)| Some(*name) == removed_condition) {
        assert_eq!(violation_of(removed_condition, *story), None, "the story of the condition fails");
    }
    let count =
        number("LONGSHORE_SEEDS").unwrap_or(if measurements::is_complete_run() { COMPLETE_SEEDS } else { SEEDS });
    if number("LONGSHORE_SOAK").is_some() {
        let violations = soak(number("LONGSHORE_SEED_FROM").unwrap_or(0), count, removed_condition);
        return assert_eq!(violations, 0, "number of seeds with a violation");
    }
    let start = Instant::now();
    let totals = run_seeds(number("LONGSHORE_SEED_FROM").unwrap_or(0), count, removed_condition);
    let totals = totals.unwrap_or_else(|failed| panic!("{}", describe(failed, removed_condition)));
    assert!(totals.seeds > 0, "no seed was run");
    if count >= SEEDS && removed_condition.is_none() {
        check_that_faults_occurred(&totals);
    }
    record("of all kinds", &totals, start);
    for (kind, count) in &totals.traits {
        let share = format!("{:.1} %", *count as f64 * 100.0 / totals.seeds as f64);
        measurements::row("simulation-runs", &[("runs with", kind), ("seeds", count), ("share", &share)]);
    }
    for (kind, count) in &totals.tally {
        measurements::row("simulation-faults", &[("fault", kind), ("times", count)]);
    }
}

/// Records the totals of runs without a violation.
fn record(jobs: &str, totals: &Totals, start: Instant) {
    let ends = ["completed", "failed", "canceled", "deleted", "removed"].map(|name| totals.end(name));
    let per_second = (totals.seeds as f64 / start.elapsed().as_secs_f64()) as u64;
    let cells: [(&str, &dyn Display); 10] = [
        ("jobs", &jobs),
        ("seeds", &totals.seeds),
        ("calls of services", &totals.calls),
        ("completed", &ends[0]),
        ("failed", &ends[1]),
        ("canceled", &ends[2]),
        ("deleted", &ends[3]),
        ("removed", &ends[4]),
        ("seeds per second", &per_second),
        ("violations", &0),
    ];
    measurements::row("simulation", &cells);
}

/// Checks that every kind of fault, every trait and every kind of end has occurred, so that a missing one is noticed.
fn check_that_faults_occurred(totals: &Totals) {
    for kind in FAULT_KINDS {
        assert!(
            totals.tally.get(kind).is_some_and(|times| *times > 0),
            "the fault {kind:?} never occurred: {:?}",
            totals.tally
        );
    }
    for kind in TRAITS {
        assert!(totals.traits.get(kind).is_some_and(|seeds| *seeds > 0), "no run with {kind}: {:?}", totals.traits);
    }
    for end in ["completed", "failed", "canceled", "deleted", "removed"] {
        assert!(totals.end(end) > 0, "no job was {end}: {:?}", totals.ends);
    }
}

#[test]
fn whatever_a_remote_handler_answers_every_outcome_is_one_that_it_gave() {
    let (count, start) =
        (if measurements::is_complete_run() { COMPLETE_SEEDS } else { LYING_TEST_SEEDS }, Instant::now());
    let totals = run_seeds(LYING_SEEDS, count, None).unwrap_or_else(|failed| panic!("{}", describe(failed, None)));
    record("with a lying handler", &totals, start);
    assert_eq!(totals.traits.get("a remote handler"), Some(&totals.seeds));
    assert!(totals.tally.get("lying answer").is_some_and(|answers| 2 * *answers > totals.seeds), "{:?}", totals.tally);
}

#[test]
fn a_seed_has_the_same_run_regardless_of_earlier_runs() {
    let digest = |seed| run(seed, None, TraceMode::Hashed).unwrap().digest;
    let (forwards, backwards): (Vec<_>, Vec<_>) =
        ((0..100).map(digest).collect(), (0..100).rev().map(digest).collect());
    for (seed, (first, second)) in forwards.iter().zip(backwards.iter().rev()).enumerate() {
        assert_eq!(first, second, "seed {seed} has two different runs");
    }
    let other_thread = thread::spawn(move || run(7, None, TraceMode::Hashed).unwrap().digest).join().unwrap();
    assert_eq!(other_thread, forwards[7]);
    assert_ne!(forwards[7], forwards[8]);
}

#[test]
fn without_any_one_condition_an_invariant_is_violated() {
    for (name, _) in CONDITIONS {
        let story = SHOWN_BY_STORIES.iter().find(|(shown, _)| *shown == name);
        let (seed, violation) = match story {
            Some((_, story)) => ("a story".to_owned(), violation_of(Some(name), *story)),
            None => run_seeds(0, MAX_SEEDS_TO_VIOLATION, Some(name))
                .err()
                .map(|(seed, violation)| (seed.to_string(), Some(violation)))
                .unwrap_or_default(),
        };
        let violation = violation.unwrap_or_else(|| panic!("no violation without {name}"));
        let violation = violation.lines().next().unwrap_or_default().chars().take(100).collect::<String>();
        if number("LONGSHORE_PROGRESS").is_some() {
            eprintln!("{name}: seed {seed}: {violation}");
        }
        measurements::row("simulation-broken", &[("without", &name), ("shown by seed", &seed), ("as", &violation)]);
    }
}

#[test]
fn without_any_one_layer_no_invariant_is_violated() {
    let count = if measurements::is_complete_run() { 10 * LAYER_SEEDS } else { LAYER_SEEDS };
    for (name, _) in LAYERS {
        let totals =
            run_seeds(0, count, Some(name)).unwrap_or_else(|failed| panic!("{}", describe(failed, Some(name))));
        measurements::row("simulation-layers", &[("without", &name), ("seeds", &totals.seeds), ("violations", &0)]);
    }
}
