//! A batch of one item.

use anyhow::Result;
use longshore_domain::outcome::Outcome;

use super::super::lab::{Lab, Notebook};
use super::super::order::Check;
use super::super::report::Report;
use super::super::words;

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let batch = lab.batch("one_item", [1]);
    let heard = lab.send(&batch, notebook).await?;
    let items = match notebook.results(Check::OneItem, &batch, &heard) {
        Ok(items) => items,
        Err(report) => return Ok(*report),
    };
    let outcome = items.outcomes().iter().flatten().next();
    let refused = outcome.filter(|outcome| !matches!(outcome, Outcome::Ok(_)));
    let note =
        refused.map(|_| "pass items that succeed with --items, so that more of the handler is checked".to_owned());
    let label = outcome.map(words::label).unwrap_or_default();
    let summary = format!("{label}, in {}", words::duration(heard.exchange.took));
    let evidence = batch.evidence(&heard, notebook);
    Ok(Report::ok(Check::OneItem, summary).note(note).note(heard.busy_note()).with(evidence))
}
