//! Keys: items of one value, with numbers in no order, need their own keys in the answer.

use anyhow::Result;

use super::super::lab::{Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::partial_note;

/// Numbers in no order. A handler that counts them, or writes the key itself, does not get them right.
const NUMBERS: [u64; 4] = [1_000_007, 31, 502, 32];

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    if let Some(defect) = notebook.take_wrong_keys() {
        return Ok(Report::problem(Check::Keys, Problem::WrongKeys, defect.reason).with(defect.evidence));
    }
    let mut batch = lab.batch("keys", NUMBERS);
    batch.items.items.iter_mut().for_each(|(_, value)| *value = lab.samples.at(0));
    let heard = lab.send(&batch, notebook).await?;
    let items = match notebook.results(Check::Keys, &batch, &heard) {
        Ok(items) => items,
        Err(report) => return Ok(*report),
    };
    let summary = "keys of items with the same value and numbers in no order were repeated exactly";
    let note = partial_note(items.answered(), items.outcomes().len());
    Ok(Report::ok(Check::Keys, summary).note(note).with(batch.evidence(&heard, notebook)))
}
