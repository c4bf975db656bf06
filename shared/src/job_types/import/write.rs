//! Writes rows as records: selects the row to send among rows with the same key, and derives each row's outcome.

use std::collections::HashMap;

use super::row::Row;
use crate::handler::{ItemKey, Outcome};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::writer::{Rule, Writer, Written};

/// The target of the rows.
pub(super) struct Target<'a> {
    pub(super) dataset: Dataset,
    pub(super) rule: Rule,
    /// Name of the key, for the rejections.
    pub(super) key: &'a str,
}

/// Writes rows of one job, in the order of the file. Returns fewer outcomes than rows if the store ran out of time: the
/// remaining rows are processed again later.
///
/// Of several rows with the same key, only one is sent: the last in an upsert, the first in an insert. The results of
/// the others follow from its result.
pub(super) async fn write(records: &impl RecordStore, target: &Target<'_>, items: Vec<(ItemKey, Row)>) -> Vec<Outcome> {
    let rule = target.rule;
    let (rows, chosen) = choose(rule, items);
    let senders: Vec<Writer> = chosen.iter().map(|record| record.writer).collect();
    let written = records.put(&target.dataset, rule, chosen).await;
    let results = rows.into_iter().map_while(|(writer, sent)| {
        let written = written.get(sent).cloned().unwrap_or(Written::Untried);
        let written = if senders[sent] == writer { written } else { follow(rule, written, senders[sent]) };
        outcome(own(written, writer), writer, target.key)
    });
    results.collect()
}

/// Returns the records to send, and for each row its writer and the record that is sent for its key.
fn choose(rule: Rule, items: Vec<(ItemKey, Row)>) -> (Vec<(Writer, usize)>, Vec<NewRecord>) {
    let mut chosen: Vec<NewRecord> = Vec::with_capacity(items.len());
    let mut sent: HashMap<String, usize> = HashMap::with_capacity(items.len());
    let mut rows = Vec::with_capacity(items.len());
    for (item, Row { key, data }) in items {
        let writer = Writer { job: item.job_id, row: item.number };
        let next = chosen.len();
        let at = *sent.entry(key.clone()).or_insert(next);
        let record = NewRecord { key, data, writer };
        if at == next {
            chosen.push(record);
        } else if rule == Rule::Upsert {
            chosen[at] = record;
        }
        rows.push((writer, at));
    }
    (rows, chosen)
}

/// Returns the result of a row whose key was sent for another row of the same batch.
fn follow(rule: Rule, sent: Written, sender: Writer) -> Written {
    match (rule, sent) {
        (Rule::Upsert, Written::Stored) => Written::Superseded(sender),
        (Rule::Insert, Written::Stored) => Written::Taken(Some(sender)),
        // The other row failed, and this one has not been tried.
        (_, Written::Refused(_)) => Written::Unknown(String::from("another row with this key was tried first")),
        (_, other) => other,
    }
}

/// Corrects the result of a row whose own record is in the table: the row is stored, regardless of the row that was
/// sent for its key. A worker that died between its write and its commit has left the record there.
fn own(written: Written, writer: Writer) -> Written {
    match written {
        Written::Taken(Some(holder)) | Written::Superseded(holder) if holder == writer => Written::Stored,
        other => other,
    }
}

/// Returns the outcome of a row, or `None` if it was not tried. In an upsert, a row that was replaced by a later row of
/// the same file is a success; one that was replaced by another job is skipped.
fn outcome(written: Written, writer: Writer, key: &str) -> Option<Outcome> {
    Some(match written {
        Written::Stored => Outcome::Ok,
        Written::Superseded(holder) if holder.job == writer.job => Outcome::Ok,
        Written::Superseded(holder) => {
            Outcome::Skip { reason: format!("job {}, created later, has already written this record", holder.job) }
        }
        Written::Taken(holder) => Outcome::reject("duplicate_key", Some(key), taken(holder, writer)),
        Written::Refused(reason) => {
            Outcome::reject("record_refused", None, format!("the records table rejected this row: {reason}"))
        }
        Written::Unknown(reason) => Outcome::Retry { after: None, reason },
        Written::Throttled(reason) => Outcome::Busy { reason },
        Written::Untried => return None,
    })
}

fn taken(holder: Option<Writer>, writer: Writer) -> String {
    match holder {
        Some(holder) if holder.job == writer.job => format!("row {} of this file has the same key", holder.row),
        Some(holder) => {
            format!("a record with this key already exists, from row {} of job {}", holder.row, holder.job)
        }
        None => String::from("a record with this key already exists"),
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
