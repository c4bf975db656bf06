//! A game day: six faults are planted in a running stack, one after the other, in an order and with details that a seed
//! chooses. For each of them, operators do what they would do at night:
//!
//! | stage | what is verified |
//! | --- | --- |
//! | signal | an alarm of the template is raised and leads to a runbook section; or a metric of a dashboard changes |
//! | finding | `longshore doctor --json` names the fault |
//! | action | what the finding and the section say: the command as it is printed, or a deployment |
//! | recovered | the rows `over` of the sections; no alarm, no finding; each job has its exact rows and its event |
//!
//! Jobs of two tenants run all the time: imports, and jobs of a registered type; each end is an event to a webhook.
//! [Decision 0054](../../../docs/decisions/0054-game-day.md) lists what the emulator cannot simulate.
//!
//! | module | content |
//! | --- | --- |
//! | [`day`] | the stages of each fault |
//! | [`drill`] | the faults, and how each is planted |
//! | [`links`] | signal, sections and findings of each |
//! | [`action`] | what is done about each |
//! | [`over`] | how each is known to be over |
//! | [`control`] | a link that is removed, so that the game day must fail |
//! | [`load`], [`ends`], [`receiver`] | tenants, their jobs and webhooks, and the check of their ends |
//! | [`monitor`], [`cloudwatch`] | the sweeper's minutes, and CloudWatch's part |
//! | [`operator`], [`runbook`] | the shell of an operator, and what the runbook says |
//! | [`stages`], [`waits`] | times |
//!
//! `cargo xtask prove game-day` runs it. A plain test run has no reduced set, but the tests of the links.

mod action;
mod cloudwatch;
mod control;
mod day;
mod drill;
mod expectations;
#[cfg(test)]
mod expectations_tests;
mod job_ends;
mod load;
mod monitor;
mod operator;
mod receiver;
mod recovery;
mod runbook;
mod stages;
mod waits;

use std::time::Instant;

use longshore_tests::harness::handlers::{Endpoint, parameters};
use longshore_tests::harness::stack::{Stack, StackOptions};

use self::day::GameDay;
use self::load::HANDLER;
use crate::faults::jobs::has_own_emulator;
use crate::faults::losses::{SEED, seed};

const TEMPLATE: &str = include_str!("../../../template.yaml");

/// The schedule runs, the sweeper sends lost messages again after seconds, and a message is dead-lettered after four
/// deliveries.
const PARAMETERS: [(&str, &str); 4] =
    [("ScheduleState", "ENABLED"), ("WorkerTimeoutSeconds", "15"), ("StallSeconds", "12"), ("MaxReceiveCount", "4")];

#[test]
fn every_planted_fault_is_signaled_found_and_fixed_as_the_runbook_says() {
    if !measurements::is_complete_run() {
        return measurements::skipped("it takes minutes: run cargo xtask prove game-day");
    }
    if !has_own_emulator() {
        return;
    }
    let (seed, started) = (seed(), Instant::now());
    let endpoint = Endpoint::new().unwrap_or_else(|error| panic!("no endpoint: {error:?}"));
    let parameters = [&parameters(&[&endpoint], &[HANDLER]), &PARAMETERS[..]].concat();
    let stack = Stack::start(&StackOptions { faults: true, parameters: parameters.clone(), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let violations = GameDay::start(&stack, endpoint, &parameters).and_then(|game_day| game_day.run(seed));
    let violations = violations.unwrap_or_else(|error| panic!("{SEED}={seed}: {error:?}\n{}", stack.log_tail(60)));
    eprintln!("the game day took {:.0} s", started.elapsed().as_secs_f64());
    let list = violations.join("\n");
    assert!(violations.is_empty(), "{list}\nto reproduce: cargo xtask prove game-day --seed {seed}");
}
