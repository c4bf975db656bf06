//! The batch of 10 items again, as after a crash: the outcomes are to be the same.

use anyhow::Result;
use longshore_domain::outcome::Outcome;
use longshore_domain::remote::ItemOutcome;

use super::super::lab::{Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::super::words::label;
use super::batch;

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let batch = batch::batch(lab);
    let heard = lab.send(&batch, notebook).await?;
    let second = match notebook.results(Check::Repeat, &batch, &heard) {
        Ok(items) => items.outcomes(),
        Err(report) => return Ok(*report),
    };
    let difference = difference(&notebook.batch, second);
    let report = match difference {
        Some(difference) => Report::problem(Check::Repeat, Problem::DifferentOutcomes, difference),
        None => Report::ok(Check::Repeat, "the same batch again had the same outcomes"),
    };
    let report = report.note(outputs_note(&notebook.batch, second));
    Ok(report.with(batch.evidence(&heard, notebook)))
}

/// Describes the first item that has two outcomes. A retry promises nothing about the next one.
fn difference(first: &[Option<ItemOutcome>], second: &[Option<ItemOutcome>]) -> Option<String> {
    let pairs = first.iter().zip(second).enumerate();
    let mut labels = pairs.filter_map(|(at, pair)| Some((at, label(pair.0.as_ref()?), label(pair.1.as_ref()?))));
    let is_retry = |label: &str| label == "retry";
    let (at, first, second) = labels.find(|(_, a, b)| a != b && !is_retry(a) && !is_retry(b))?;
    Some(format!("the outcome of item {} of the batch was `{first}`, and then `{second}`", at + 1))
}

/// Notes an output that differs: a second id may be that of a second effect.
fn outputs_note(first: &[Option<ItemOutcome>], second: &[Option<ItemOutcome>]) -> Option<String> {
    let differs = first.iter().zip(second).any(|pair| match pair {
        (Some(Outcome::Ok(first)), Some(Outcome::Ok(second))) => {
            first.as_ref().map(|output| output.get()) != second.as_ref().map(|output| output.get())
        }
        _ => false,
    });
    differs
        .then(|| "an output differs from the first one: if it has a new id, the effect has happened twice".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_compared_by_kind_and_code_unless_one_is_a_retry() {
        let ok = || Some(ItemOutcome::Ok(None));
        let reject = |code: &str| Some(ItemOutcome::reject(code, None, "text"));
        let retry = || Some(ItemOutcome::Retry { after: None, reason: "busy".into() });
        for (first, second, differs) in [
            (ok(), ok(), false),
            (ok(), None, false),
            (ok(), reject("a"), true),
            (reject("a"), reject("a"), false),
            (reject("a"), reject("b"), true),
            (retry(), ok(), false),
            (ok(), retry(), false),
        ] {
            assert_eq!(difference(&[first], &[second]).is_some(), differs);
        }
    }
}
