//! Injection of every kind of fault into every AWS operation. The test runs in waves. A wave has a few operations, each
//! with one kind of fault.
//!
//! The complete set has waves for all operations with every kind. The reduced set is a single wave in which the kinds
//! alternate, so that every operation has one fault.
//!
//! Some operations need a dead letter that an operator discards: the sweeper records it, and deletes its message after
//! the resolution.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::stack::Stack;
use serde_json::json;

use super::jobs::{Outcome, Variant, faulty, patient, work};
use super::kinds::{KINDS, Kind};
use super::operations::{OPERATIONS, Operation};

/// Environment variable that selects the faults of a run: `Query` or `Query 500` or `500`.
const SELECTION: &str = "LONGSHORE_FAULT";

/// Number of operations with faults in one wave.
const OPERATIONS_PER_WAVE: usize = 6;

/// An operation and the fault that is injected into it.
type Injection = (Operation, Kind);

#[test]
fn with_faults_in_every_operation_every_row_is_accounted_for() {
    let Some(stack) = faulty() else { return };
    let mut total = Outcome::default();
    for wave in waves() {
        total.add(run(&stack, &wave));
    }
    let command = "cargo test -p longshore-tests --test proof with_faults_in_every_operation";
    total.assert_clean(&format!("{SELECTION}='Query 500' {command}"));
}

fn waves() -> Vec<Vec<Injection>> {
    let selection = std::env::var(SELECTION).ok();
    let is_selected = |(operation, kind): &Injection| {
        let name = format!("{} {}", operation.name, kind.name());
        selection.as_ref().is_none_or(|text| text == operation.name || text == kind.name() || *text == name)
    };
    let of_kind = |kind: Kind| OPERATIONS.iter().map(move |operation| (*operation, kind));
    if measurements::is_complete_run() || selection.is_some() {
        let cut = |kind| of_kind(kind).filter(&is_selected).collect::<Vec<_>>();
        return KINDS
            .into_iter()
            .flat_map(|kind| cut(kind).chunks(OPERATIONS_PER_WAVE).map(<[_]>::to_vec).collect::<Vec<_>>())
            .collect();
    }
    vec![OPERATIONS.into_iter().zip(KINDS.into_iter().cycle()).collect()]
}

/// Runs a wave. Its measurements are recorded even if it fails.
fn run(stack: &Stack, wave: &[Injection]) -> Outcome {
    let start = Instant::now();
    let mut outcome = Outcome::default();
    match inject(stack, wave) {
        Ok((wave_outcome, fired)) => {
            for ((operation, kind), fired) in wave.iter().zip(fired) {
                let violations = wave_outcome.violations.len() + usize::from(fired == 0);
                record(*operation, *kind, [&fired, &wave_outcome.jobs, &wave_outcome.rows, &violations]);
                if fired == 0 {
                    outcome.violations.push(format!("{}: the fault {:?} never occurred", operation.name, kind.name()));
                }
            }
            outcome.add(wave_outcome);
        }
        Err(error) => outcome.violations.push(format!("{error:#}")),
    }
    for violation in &outcome.violations {
        let names: Vec<_> =
            wave.iter().map(|(operation, kind)| format!("{} {}", operation.name, kind.name())).collect();
        eprintln!("{violation}: in the wave of {}", names.join(", "));
    }
    eprintln!("a wave of {} took {:.0} s", wave.len(), start.elapsed().as_secs_f64());
    outcome
}

fn record(operation: Operation, kind: Kind, [fired, jobs, rows, violations]: [&dyn Display; 4]) {
    let name = format!("{} {}", operation.service, operation.name);
    let numbers =
        [("times fired", fired), ("jobs in its wave", jobs), ("rows in its wave", rows), ("violations", violations)];
    let names: [(&str, &dyn Display); 2] = [("operation", &name), ("fault", &kind.name())];
    measurements::row("faults", &[&names[..], &numbers].concat());
}

/// Runs jobs with the faults of a wave. Returns their outcome, and the number of times that each fault was injected.
fn inject(stack: &Stack, wave: &[Injection]) -> Result<(Outcome, Vec<u64>)> {
    let faults = stack.faults()?;
    faults.set(&[])?;
    // The SDK does not retry this refusal: the completion that uploads the part fails, and its message is redelivered.
    let fails_delivery = wave.iter().any(|(operation, _)| operation.is_of_failed_deliveries());
    if fails_delivery {
        faults.add(&json!({ "service": "s3", "operation": "UploadPart", "times": 1,
            "error": { "code": "AccessDenied", "status": 403 } }))?;
    }
    let rules: Result<Vec<_>> = wave.iter().map(|(operation, kind)| faults.add(&kind.rule(*operation))).collect();
    let rules = rules?;
    let is_wide = fails_delivery || wave.iter().any(|(operation, _)| operation.is_of_parts());
    let wide = [Variant::Wide];
    let with_results = wave.iter().any(|(operation, _)| operation.is_of_results());
    let variants = [
        &[Variant::Plain, Variant::Deleted][..],
        if is_wide { &wide } else { &[] },
        if with_results { &[Variant::Results] } else { &[] },
    ]
    .concat();
    let needs_dead_letter = wave.iter().any(|(operation, _)| operation.is_of_dead_letters());
    let (outcome, ()) = work(stack, &variants, |_| if needs_dead_letter { discard_one(stack) } else { Ok(()) })?;
    let fired: Result<Vec<_>> = rules.iter().map(Rule::fired).collect();
    let fired = fired?;
    faults.set(&[])?;
    Ok((outcome, fired))
}

/// Maximum time for recording, discarding and deleting, while each of these calls fails several times.
const PATIENCE: Duration = Duration::from_secs(200);

/// Puts an unreadable message into a dead-letter queue, and discards it until it is deleted. The sweeper must be
/// running.
fn discard_one(stack: &Stack) -> Result<()> {
    let mark = nonce();
    let operator = stack.users.add_operator(&format!("operator-{mark}"))?;
    let client = patient(stack).with_token(&operator.token);
    let body = format!("{{unreadable {mark}");
    let send = stack.aws.sqs().send_message().queue_url(stack.output("ChunkDlqUrl")?).message_body(&body);
    stack.run(send.send()).context("cannot send the message")?;
    let deadline = Instant::now() + PATIENCE;
    while stack.peek("ChunkDlqUrl")?.contains(&body) {
        if Instant::now() > deadline {
            bail!("a discarded dead letter is still in its queue");
        }
        // Faults occur in these calls, too. The next iteration is the retry.
        let _ = discard_all(&client);
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn discard_all(client: &Client) -> Result<()> {
    let page = client.get("/api/dead-letters?limit=100&queue=chunk")?.expect(200)?;
    for dead_letter in page["deadLetters"].as_array().into_iter().flatten() {
        let id = dead_letter["letterId"].as_str().context("the dead letter has no id")?;
        client.call("DELETE", &format!("/api/dead-letters/{id}"), &[], &[])?;
    }
    Ok(())
}
