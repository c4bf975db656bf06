//! The largest batch: 1,000 items, as far as they fit into 4 MiB.

use anyhow::Result;

use super::super::lab::{Batch, Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::super::words;
use super::partial_note;

/// Returns the batch, which another check sends with a near deadline.
pub(super) fn batch(lab: &Lab, name: &str) -> Batch {
    lab.batch(name, 1_001..=2_000)
}

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let batch = batch(lab, "large_batch");
    let heard = lab.send(&batch, notebook).await?;
    let items = match notebook.results(Check::LargeBatch, &batch, &heard) {
        Ok(items) => items,
        Err(report) => return Ok(*report),
    };
    let took = heard.exchange.took;
    let report = if took > lab.caller.timeout() / 2 {
        let summary = format!("{} of a time-out of {}", words::duration(took), words::duration(lab.caller.timeout()));
        Report::problem(Check::LargeBatch, Problem::SlowBatch, summary)
    } else {
        Report::ok(Check::LargeBatch, heard.received())
    };
    let note = partial_note(items.answered(), items.outcomes().len());
    Ok(report.note(note).note(heard.busy_note()).with(batch.evidence(&heard, notebook)))
}
