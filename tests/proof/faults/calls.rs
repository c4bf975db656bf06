//! Injection of every kind of fault into every call of AWS. The test runs in waves, each with a few operations and
//! one kind of fault for each.
//!
//! The complete set has waves for all operations with every kind. The reduced set is a single wave in which the kinds
//! take turns, so that every operation meets one.

use std::fmt::Display;
use std::time::Instant;

use anyhow::Result;
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::stack::Stack;
use serde_json::json;

use super::dead_letters::discard_one;
use super::jobs::{Outcome, Variant, work};
use super::kinds::{KINDS, Kind};
use super::operations::{OPERATIONS, Operation};
use super::stacks::faulty;

/// Environment variable that selects the faults of a run: `Query` or `Query 500` or `500`.
const SELECTION: &str = "LONGSHORE_FAULT";

/// Number of operations with faults in one wave.
const OPERATIONS_PER_WAVE: usize = 6;

/// An operation and the fault that is injected into it.
type Injection = (Operation, Kind);

#[test]
fn every_call_meets_faults_and_every_row_is_accounted_for() {
    let Some(stack) = faulty() else { return };
    let mut all = Outcome::default();
    for wave in waves() {
        all.add(run(&stack, &wave));
    }
    all.must_be_clean(&format!("{SELECTION}='Query 500' cargo test -p longshore-tests --test proof every_call_meets"));
}

fn waves() -> Vec<Vec<Injection>> {
    let only = std::env::var(SELECTION).ok();
    let is_wanted = |(operation, kind): &Injection| {
        let name = format!("{} {}", operation.name, kind.name());
        only.as_ref().is_none_or(|only| only == operation.name || only == kind.name() || *only == name)
    };
    let of_kind = |kind: Kind| OPERATIONS.iter().map(move |operation| (*operation, kind));
    if measurements::is_whole() || only.is_some() {
        let cut = |kind| of_kind(kind).filter(&is_wanted).collect::<Vec<_>>();
        return KINDS
            .into_iter()
            .flat_map(|kind| cut(kind).chunks(OPERATIONS_PER_WAVE).map(<[_]>::to_vec).collect::<Vec<_>>())
            .collect();
    }
    vec![OPERATIONS.into_iter().zip(KINDS.into_iter().cycle()).collect()]
}

/// Runs a wave. Its measurements are recorded even if it fails.
fn run(stack: &Stack, wave: &[Injection]) -> Outcome {
    let began = Instant::now();
    let mut outcome = Outcome::default();
    match inject(stack, wave) {
        Ok((of_wave, fired)) => {
            for ((operation, kind), fired) in wave.iter().zip(fired) {
                let violations = of_wave.violations.len() + usize::from(fired == 0);
                write(*operation, *kind, [&fired, &of_wave.jobs, &of_wave.rows, &violations]);
                if fired == 0 {
                    outcome.violations.push(format!("{} never met {:?}", operation.name, kind.name()));
                }
            }
            outcome.add(of_wave);
        }
        Err(error) => outcome.violations.push(format!("{error:#}")),
    }
    for what in &outcome.violations {
        let names: Vec<_> =
            wave.iter().map(|(operation, kind)| format!("{} {}", operation.name, kind.name())).collect();
        eprintln!("{what}: in the wave of {}", names.join(", "));
    }
    eprintln!("a wave of {} took {:.0} s", wave.len(), began.elapsed().as_secs_f64());
    outcome
}

fn write(operation: Operation, kind: Kind, [fired, jobs, rows, violations]: [&dyn Display; 4]) {
    let name = format!("{} {}", operation.service, operation.name);
    let numbers =
        [("times fired", fired), ("jobs in its wave", jobs), ("rows in its wave", rows), ("violations", violations)];
    let names: [(&str, &dyn Display); 2] = [("operation", &name), ("fault", &kind.name())];
    measurements::row("faults", &[&names[..], &numbers].concat());
}

/// The outcome of the jobs, and how often each fault was injected.
fn inject(stack: &Stack, wave: &[Injection]) -> Result<(Outcome, Vec<u64>)> {
    let faults = stack.faults()?;
    faults.set(&[])?;
    // No client retries this refusal: the completion that uploads the part fails, and its message is delivered again.
    let fails = wave.iter().any(|(operation, _)| operation.is_of_failed_deliveries());
    if fails {
        faults.add(&json!({ "service": "s3", "operation": "UploadPart", "times": 1,
            "error": { "code": "AccessDenied", "status": 403 } }))?;
    }
    let rules: Result<Vec<_>> = wave.iter().map(|(operation, kind)| faults.add(&kind.rule(*operation))).collect();
    let rules = rules?;
    let is_wide = fails || wave.iter().any(|(operation, _)| operation.is_of_parts());
    let wide = [Variant::Wide];
    let variants = [&[Variant::Plain, Variant::Deleted][..], if is_wide { &wide } else { &[] }].concat();
    let buries = wave.iter().any(|(operation, _)| operation.is_of_dead_letters());
    let (outcome, ()) = work(stack, &variants, |_| if buries { discard_one(stack) } else { Ok(()) })?;
    let fired: Result<Vec<_>> = rules.iter().map(Rule::fired).collect();
    let fired = fired?;
    faults.set(&[])?;
    Ok((outcome, fired))
}
