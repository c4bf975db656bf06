//! A row of an import: its conversion to a record of a dataset, and its write.
//!
//! A row or line is read by header and checked, and its key is taken. Of the rows with the same key, one is selected
//! and sent; each row's outcome is derived from the result.

use std::borrow::Cow;
use std::collections::HashMap;

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::NewRecord;
use longshore_domain::text::{NAME_CHARS, shortened};
use longshore_domain::writer::{Rule, Writer, Written};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json_line::object;
use super::mapping::mapped;
use super::mode::Mode;
use super::options::ImportOptions;
use super::row_reader::Reads;
use crate::handler::{ItemKey, Outcome, Record, Rejection};
use crate::store::records::{MAX_KEY_BYTES, Misfit, fits};

/// A valid row; empty if the mode writes nothing.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Row {
    /// Key of the record.
    key: String,
    /// Properties of the record.
    data: Map<String, Value>,
}

/// Parses and checks a record. Finds every error that can be found without writing, in every mode.
///
/// # Errors
/// `malformed_json`, `not_an_object`, `duplicate_property`, `number_too_long`, `schema_…`, `row_too_complex`,
/// `missing_key`, `invalid_key`, `cell_error`, `ambiguous_number`, `ambiguous_date`, `two_digit_year`,
/// `time_zone_missing`, `ambiguous_time`, `no_such_time`, `key_too_long`, `record_too_large`, `record_too_deep`,
/// `number_out_of_range`, `property_without_name`.
pub(super) fn read(options: &ImportOptions, record: &Record<'_>) -> Result<Row, Rejection> {
    match record {
        Record::Row { columns, cells } => {
            let reads = if options.mode == Mode::Delete { Reads::Key } else { Reads::All };
            let mut reader = options.row_reader();
            let (row, error) = reader.fill(options, reads, columns, *cells);
            error.map_or(Ok(()), Err)?;
            let checked = checked(options, row).map_err(|rejection| with_notation(options, row, rejection));
            checked.map_err(|rejection| at_column(options, rejection))
        }
        Record::Line(line) => {
            let row = mapped(options, object(record, line)?)?;
            checked(options, &row).map_err(|rejection| at_column(options, rejection))
        }
        Record::Stored(_) | Record::Options(_) => Err(Rejection::new("no_file", None, "an import requires a file")),
    }
}

/// Returns the key of a record, without a check of its other properties; `None` if it cannot be read.
pub(crate) fn read_key(options: &ImportOptions, record: &Record<'_>) -> Option<String> {
    let key = |row: &Value| Some(key_of(&options.key, row.as_object()?).ok()?.into_owned());
    match record {
        Record::Row { columns, cells } => key(options.row_reader().fill(options, Reads::Key, columns, *cells).0),
        Record::Line(line) => key(&mapped(options, object(record, line).ok()?).ok()?),
        Record::Stored(_) | Record::Options(_) => None,
    }
}

fn checked(options: &ImportOptions, row: &Value) -> Result<Row, Rejection> {
    if let Some(schema) = options.row_schema() {
        schema.check(row)?;
    }
    let data = row.as_object().ok_or_else(|| not_an_object(row))?;
    let key = key_of(&options.key, data)?;
    if options.mode == Mode::Delete {
        return Ok(Row { key: key.into_owned(), data: Map::new() });
    }
    fits(&key, data).map_err(|misfit| refused(&misfit))?;
    match options.mode {
        Mode::Validate => Ok(Row::default()),
        _ => Ok(Row { key: key.into_owned(), data: data.clone() }),
    }
}

/// Names the column of the file in place of the property that it is mapped to.
fn at_column(options: &ImportOptions, mut rejection: Rejection) -> Rejection {
    rejection.field = rejection.field.map(|property| options.column_of(&property).to_owned());
    rejection
}

/// Adds the notation of the column to the rejection of a text that is no number or date.
fn with_notation(options: &ImportOptions, row: &Value, mut rejection: Rejection) -> Rejection {
    let is_unread = matches!(rejection.code.as_str(), "schema_type" | "schema_format");
    let property = rejection.field.as_deref().filter(|&name| is_unread && row.get(name).is_some_and(Value::is_string));
    if let Some(notation) = property.and_then(|property| options.notation_in_words(property)) {
        rejection.message.push_str("; ");
        rejection.message.push_str(notation);
    }
    rejection
}

/// Returns a record's key: text, an integer or a boolean. Other values can be written in several ways.
fn key_of<'a>(name: &str, data: &'a Map<String, Value>) -> Result<Cow<'a, str>, Rejection> {
    let key = match data.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Cow::Borrowed(text.as_str()),
        Some(Value::Number(number)) if !number.is_f64() => Cow::Owned(number.to_string()),
        Some(Value::Bool(truth)) => Cow::Borrowed(if *truth { "true" } else { "false" }),
        None | Some(Value::Null | Value::String(_)) => {
            let message = format!("{} is the key of the record, and is missing or empty", shown(name));
            return Err(Rejection::new("missing_key", Some(name), message));
        }
        Some(_) => {
            let message =
                format!("{} is the key of the record; it must be text, an integer, true or false", shown(name));
            return Err(Rejection::new("invalid_key", Some(name), message));
        }
    };
    if key.len() > MAX_KEY_BYTES {
        let message = format!(
            "{} is the key of the record and has {} bytes; the maximum is {MAX_KEY_BYTES}",
            shown(name),
            key.len()
        );
        return Err(Rejection::new("key_too_long", Some(name), message));
    }
    Ok(key)
}

fn shown(name: &str) -> String {
    shortened(name, NAME_CHARS)
}

fn refused(misfit: &Misfit) -> Rejection {
    let (code, field) = match misfit {
        Misfit::TooLarge(_) => ("record_too_large", None),
        Misfit::TooDeep(name) => ("record_too_deep", Some(name)),
        Misfit::NumberOutOfRange(name) => ("number_out_of_range", Some(name)),
        Misfit::EmptyName(name) => ("property_without_name", Some(name)),
    };
    Rejection::new(code, field.map(String::as_str), misfit.to_string())
}

pub(super) fn not_an_object(value: &Value) -> Rejection {
    let message = if value.is_array() {
        "the line is a JSON array; write each of its objects on a line of its own"
    } else {
        r#"the line must be a JSON object, {"property": value, …}"#
    };
    Rejection::new("not_an_object", None, message)
}

/// The target of the rows.
pub(super) struct Target<'a> {
    pub(super) dataset: Dataset,
    pub(super) rule: Rule,
    /// Column of the key, for the rejections.
    pub(super) key: &'a str,
}

/// Writes rows of one job, in the order of the file; `put` writes the records. Returns fewer outcomes than rows if the
/// store ran out of time: the remaining rows are processed again later.
///
/// Of several rows with the same key, only one is sent: the first in an insert, else the last. The results of the
/// others follow from its result.
pub(super) async fn write<P: Future<Output = Vec<Written>>>(
    target: &Target<'_>,
    items: Vec<(ItemKey, Row)>,
    put: impl FnOnce(Vec<NewRecord>) -> P,
) -> Vec<Outcome> {
    let rule = target.rule;
    let (rows, chosen) = choose(rule, items);
    let senders: Vec<Writer> = chosen.iter().map(|record| record.writer).collect();
    let written = put(chosen).await;
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
        } else if rule.last_wins() {
            chosen[at] = record;
        }
        rows.push((writer, at));
    }
    (rows, chosen)
}

/// Returns the result of a row whose key was sent for another row of the same batch.
fn follow(rule: Rule, sent: Written, sender: Writer) -> Written {
    match (rule, sent) {
        (Rule::Insert, Written::Stored) => Written::Taken(Some(sender)),
        (_, Written::Stored) => Written::Superseded(sender),
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

/// Returns the outcome of a row, or `None` if it was not tried. A row that was replaced by a later row of the same file
/// is a success; one that was replaced by another job is skipped.
fn outcome(written: Written, writer: Writer, key: &str) -> Option<Outcome> {
    Some(match written {
        Written::Stored => Outcome::Ok(()),
        Written::Superseded(holder) if holder.job == writer.job => Outcome::Ok(()),
        Written::Superseded(holder) => {
            Outcome::Skip { reason: format!("job {}, created later, has already written this record", holder.job) }
        }
        Written::Missing => Outcome::reject("key_not_found", Some(key), MISSING),
        Written::Taken(holder) => Outcome::reject("duplicate_key", Some(key), taken(holder, writer)),
        Written::Refused(reason) => {
            Outcome::reject("record_refused", None, format!("the records table rejected this row: {reason}"))
        }
        Written::Unknown(reason) => Outcome::Retry { after: None, reason },
        Written::Changed => Outcome::Retry { after: None, reason: String::from(CHANGED) },
        Written::Throttled(reason) => Outcome::Busy { reason },
        Written::Untried => return None,
    })
}

/// Message of a row whose key does not exist.
const MISSING: &str =
    "no record has this key, and an update creates none; fix the key, or import the row with mode upsert";

/// Reason of a row whose record others keep writing.
const CHANGED: &str = "other writers keep changing this record";

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
#[path = "row_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "row_mapping_tests.rs"]
mod mapping_tests;

#[cfg(test)]
#[path = "write_tests.rs"]
mod write_tests;

#[cfg(test)]
#[path = "mode_tests.rs"]
mod mode_tests;
