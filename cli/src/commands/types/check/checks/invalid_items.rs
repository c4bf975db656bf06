//! Items that are probably invalid, between valid ones: each has an outcome of its own.

use anyhow::Result;
use longshore_domain::outcome::Outcome;
use longshore_domain::remote::{BadAnswerReason, CallOutcome, FaultCause, ItemOutcome, Mode};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::lab::{Batch, Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::super::samples::raw;
use super::super::words;
use super::partial_note;

/// Levels of the nested item.
const LEVELS: usize = 100;
/// Bytes of the long item.
const LONG: usize = 200_000;

/// Returns the invalid values with their names.
fn invalid() -> [(&'static str, Box<RawValue>); 3] {
    let nested = format!("{}1{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    [
        ("null", raw(&Value::Null)),
        ("an array of 100 levels", RawValue::from_string(nested).unwrap_or_else(|_| RawValue::NULL.to_owned())),
        ("a string of 200 KB", raw(&Value::from("x".repeat(LONG)))),
    ]
}

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let mut batch = lab.batch("invalid_items", 51..=55);
    for ((_, value), (_, invalid)) in batch.items.items[1..4].iter_mut().zip(invalid()) {
        *value = invalid;
    }
    let heard = lab.send(&batch, notebook).await?;
    let mut evidence = batch.evidence(&heard, notebook);
    evidence.sent.push_str("; the second to fourth are null, an array of 100 levels, a string of 200 KB");
    let problem = match &heard.outcome {
        CallOutcome::Fatal(rejection) => {
            Some((Problem::FatalForItem, format!("the handler answered fatal {}", rejection.code)))
        }
        // A bad code is reported as such.
        CallOutcome::Fault(fault) if !matches!(fault.cause, FaultCause::BadAnswer(BadAnswerReason::BadCode { .. })) => {
            let culprits = culprits(lab, notebook).await?;
            Some((Problem::BatchBroken, format!("{culprits}: {}", words::fault(fault, &heard.exchange))))
        }
        _ => None,
    };
    if let Some((problem, summary)) = problem {
        return Ok(Report::problem(Check::InvalidItems, problem, summary).with(evidence));
    }
    let items = match notebook.results(Check::InvalidItems, &batch, &heard) {
        Ok(items) => items,
        Err(report) => return Ok(*report),
    };
    let outcomes = items.outcomes();
    let report = match neighbours(notebook, outcomes) {
        Some(difference) => Report::problem(Check::InvalidItems, Problem::NeighboursAffected, difference),
        None => Report::ok(Check::InvalidItems, format!("each has an outcome of its own: {}", words::counts(outcomes))),
    };
    let note = partial_note(items.answered(), outcomes.len());
    Ok(report.note(note).note(retry_note(outcomes)).with(evidence))
}

/// Notes an invalid item that is to be tried again.
fn retry_note(outcomes: &[Option<ItemOutcome>]) -> Option<String> {
    let is_retry = |outcome: &Option<ItemOutcome>| matches!(outcome, Some(Outcome::Retry { .. }));
    outcomes.get(1..4)?.iter().any(is_retry).then(|| {
        "an invalid item was answered `retry`: it spends all its tries before it fails. `reject` fails it at once"
            .to_owned()
    })
}

/// Compares the valid items with those of the batch before, which had the same values at the same positions. With
/// effects, another outcome is right: the values have been processed.
fn neighbours(notebook: &Notebook, outcomes: &[Option<ItemOutcome>]) -> Option<String> {
    if notebook.facts.mode == Some(Mode::Run) {
        return None;
    }
    let kind = |outcomes: &[Option<ItemOutcome>], at: usize| outcomes.get(at)?.as_ref().map(std::mem::discriminant);
    let is_same = |at| kind(&notebook.batch, at).zip(kind(outcomes, at)).is_none_or(|(before, now)| before == now);
    let other = [0, 4].into_iter().find(|at| !is_same(*at))?;
    Some(format!(
        "item {}, which had another outcome without invalid items beside it, is now `{}`",
        other + 1,
        outcomes[other].as_ref().map(words::label)?
    ))
}

/// Sends each invalid item alone, and names those that fail.
async fn culprits(lab: &Lab, notebook: &Notebook) -> Result<String> {
    let mut names = Vec::new();
    for (at, (name, value)) in invalid().into_iter().enumerate() {
        let mut alone: Batch = lab.batch(&format!("invalid_item_{at}"), [52 + at as u64]);
        alone.items.items[0].1 = value;
        if matches!(lab.send(&alone, notebook).await?.outcome, CallOutcome::Fault(_)) {
            names.push(name);
        }
    }
    Ok(if names.is_empty() { "the batch failed, and none of its items alone".to_owned() } else { names.join(", ") })
}
