//! A batch of 10 items.

use anyhow::Result;

use super::super::lab::{Batch, Lab, Notebook};
use super::super::order::Check;
use super::super::report::Report;
use super::partial_note;

/// Returns the batch, which another check repeats.
pub(super) fn batch(lab: &Lab) -> Batch {
    lab.batch("batch", 11..=20)
}

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let batch = batch(lab);
    let heard = lab.send(&batch, notebook).await?;
    let items = match notebook.results(Check::Batch, &batch, &heard) {
        Ok(items) => items,
        Err(report) => return Ok(*report),
    };
    notebook.batch = items.outcomes().to_vec();
    let note = partial_note(items.answered(), items.outcomes().len());
    let report = Report::ok(Check::Batch, heard.received()).note(note).note(heard.busy_note());
    Ok(report.with(batch.evidence(&heard, notebook)))
}
