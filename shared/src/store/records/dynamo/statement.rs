//! The pure half of the adapter: one record's write as a PartiQL statement, and the meaning of its response.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, BatchStatementError, BatchStatementErrorCodeEnum as Code, BatchStatementRequest,
    ReturnValuesOnConditionCheckFailure,
};
use longshore_domain::dataset::Dataset;
use longshore_domain::history::VersionMark;
use longshore_domain::ports::{NewRecord, Overwrite, Revert};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::Map;

use super::sql::{self, Replaceable};
use crate::store::records::{shard, size};

/// The statement to send for a record.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Step {
    /// Writes the record if the key does not exist.
    Insert,
    /// As an insert; the result is known if the key exists.
    InsertNew,
    /// Overwrites the existing record, if the rule allows.
    Update,
    /// Overwrites one version of the record.
    Overwrite,
    /// Restores an earlier version of the record in place of one version.
    Restore,
    /// Deletes one version of the record.
    Remove,
    /// Deletes the record, if the rule allows.
    Delete,
}

/// The next action after a response.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Next {
    /// The record's result is known.
    Done(Written),
    /// Send the other statement: the key exists, or no longer exists.
    Go(Step),
    /// Send the same statement again, later; with the reason.
    Wait(String),
    /// Send the same statement again, later: there was no capacity for it, and it was not written.
    Throttled(String),
}

/// A record on its way into the table.
#[derive(Debug)]
pub(super) struct Pending {
    /// Index among the given records.
    pub(super) index: usize,
    /// The next statement to send.
    pub(super) step: Step,
    /// True if the key was found to exist.
    pub(super) was_present: bool,
    /// Bytes of the record.
    pub(super) bytes: usize,
    /// Number of times that `INSERT` found the key to exist.
    duplicates: u32,
    key: [AttributeValue; 2],
    values: [AttributeValue; 3],
    writer: Writer,
    replaced: Option<Replaced>,
}

/// The version that a write replaces.
#[derive(Clone, Debug)]
struct Replaced {
    stored: Replaceable,
    /// Place of the previous version, if the statement sets it.
    place: Option<AttributeValue>,
    /// Creator of the record, if the statement restores it.
    created_by: Option<AttributeValue>,
}

impl Pending {
    /// Converts a record to the table's types.
    pub(super) fn new(into: &Dataset, index: usize, record: &NewRecord, step: Step, now: Timestamp) -> Self {
        let partition = shard::partition(into, shard::shard_of(&record.key));
        // DynamoDB can represent each JSON value, so this cannot fail.
        let data = serde_dynamo::to_attribute_value(&record.data).unwrap_or(AttributeValue::Null(true));
        Self {
            index,
            step,
            was_present: false,
            bytes: size::bytes(&record.key, &record.data),
            duplicates: 0,
            key: [AttributeValue::S(partition), AttributeValue::S(record.key.clone())],
            values: [data, text(&record.writer), AttributeValue::N(now.0.to_string())],
            writer: record.writer,
            replaced: None,
        }
    }

    /// Converts the replacement of one version.
    pub(super) fn overwrite(into: &Dataset, index: usize, overwrite: &Overwrite<'_>, now: Timestamp) -> Self {
        let Overwrite { record, mark, previous } = overwrite;
        let stored = overwrite.replaced_writers().map_or(Replaceable::Version(*mark), Replaceable::Writers);
        let replaced = Replaced { stored, place: previous.as_ref().map(text), created_by: None };
        Self { replaced: Some(replaced), ..Self::new(into, index, record, Step::Overwrite, now) }
    }

    /// Converts the reversal of one version.
    pub(super) fn revert(of: &Dataset, index: usize, revert: &Revert<'_>, now: Timestamp) -> Self {
        let Revert { key, mark, by, to } = revert;
        let record = NewRecord { key: (*key).to_owned(), data: Map::new(), writer: *by };
        let place = to.and_then(|to| to.previous.clone()).map(AttributeValue::S);
        let created_by = to.and_then(|to| to.created_by.as_ref()).map(text);
        let replaced = Some(Replaced { stored: Replaceable::Version(*mark), place, created_by });
        let Some(to) = to else { return Self { replaced, ..Self::new(of, index, &record, Step::Remove, now) } };
        let restored = Self::new(of, index, &record, Step::Restore, now);
        let data = serde_dynamo::to_attribute_value(&to.data).unwrap_or(AttributeValue::Null(true));
        let [_, _, updated_at] = restored.values;
        let values = [data, AttributeValue::S(to.writer.clone()), updated_at];
        Self { replaced, values, bytes: size::bytes(key, &to.data), ..restored }
    }

    /// Returns the statement of the current step. Idempotent: an `UPDATE` under a rule accepts its own writer, a
    /// `DELETE` succeeds if there is no record, and a second overwrite finds that the version has changed.
    pub(super) fn statement(&self, table: &str, rule: Rule) -> Result<BatchStatementRequest, BuildError> {
        let (key, values) = (self.key.iter().cloned(), self.values.iter().cloned());
        let builder = BatchStatementRequest::builder();
        let builder = match self.step {
            Step::Insert | Step::InsertNew => {
                let created_by = text(&self.writer.job);
                let parameters = key.chain(values).chain([created_by]).collect();
                builder.statement(sql::insert(table)).set_parameters(Some(parameters))
            }
            Step::Update => builder
                .statement(sql::update(table, rule))
                .set_parameters(Some(values.chain(key).chain([self.values[1].clone()]).collect()))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld),
            Step::Overwrite => {
                let Replaced { stored, place, .. } = self.replaced();
                let sets_previous = place.is_some();
                let parameters = values.chain(place).chain(key).chain(stored.parameters()).collect();
                builder.statement(sql::overwrite(table, &stored, sets_previous)).set_parameters(Some(parameters))
            }
            Step::Restore => {
                let Replaced { stored, place, created_by } = self.replaced();
                let statement = sql::restore(table, &stored, [created_by.is_some(), place.is_some()]);
                let restored = [text(&self.writer)].into_iter().chain(created_by).chain(place);
                let parameters = values.chain(restored).chain(key).chain(stored.parameters()).collect();
                builder.statement(statement).set_parameters(Some(parameters))
            }
            Step::Remove => {
                let Replaced { stored, .. } = self.replaced();
                let parameters = key.chain(stored.parameters()).collect();
                builder.statement(sql::remove(table, &stored)).set_parameters(Some(parameters))
            }
            Step::Delete => builder
                .statement(sql::delete(table))
                .set_parameters(Some(key.chain([self.values[1].clone()]).collect()))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld),
        };
        builder.build()
    }

    /// Returns the version that is replaced; without one, a mark that no item has.
    fn replaced(&self) -> Replaced {
        let nothing = VersionMark { writer: None, updated_at: None };
        self.replaced.clone().unwrap_or(Replaced {
            stored: Replaceable::Version(nothing),
            place: None,
            created_by: None,
        })
    }

    /// Returns true if the table cannot take a statement now, but may later.
    pub(super) fn asks_to_wait(error: &BatchStatementError) -> bool {
        !matches!(
            error.code(),
            Some(
                Code::DuplicateItem
                    | Code::ConditionalCheckFailed
                    | Code::ValidationError
                    | Code::ItemCollectionSizeLimitExceeded
            )
        )
    }

    /// Returns the action that follows from a response; `None` is success.
    pub(super) fn next(&mut self, rule: Rule, error: Option<&BatchStatementError>) -> Next {
        self.was_present |= matches!((self.step, error), (Step::Update, None));
        let Some(error) = error else { return Next::Done(Written::Stored) };
        let message = error.message().unwrap_or("no reason given");
        match error.code() {
            Some(Code::DuplicateItem) if self.step == Step::InsertNew => {
                self.was_present = true;
                Next::Done(Written::Taken(None))
            }
            Some(Code::DuplicateItem) => {
                self.was_present = true;
                self.duplicates += 1;
                Next::Go(Step::Update)
            }
            Some(Code::ConditionalCheckFailed) if self.replaced.is_some() => Next::Done(Written::Changed),
            Some(Code::ConditionalCheckFailed) => self.refused(rule, error),
            Some(Code::ValidationError | Code::ItemCollectionSizeLimitExceeded) => {
                Next::Done(Written::Refused(message.to_owned()))
            }
            Some(code @ (Code::ThrottlingError | Code::ProvisionedThroughputExceeded | Code::RequestLimitExceeded)) => {
                Next::Throttled(format!("{}: {message}", code.as_str()))
            }
            code => Next::Wait(format!("{}: {message}", code.map_or("Unknown", Code::as_str))),
        }
    }

    /// Handles the failed condition of an `UPDATE` or `DELETE`: another writer has the key, or the key does not exist
    /// (any more).
    fn refused(&mut self, rule: Rule, error: &BatchStatementError) -> Next {
        let Some(item) = error.item() else { return self.refused_without_image(rule) };
        self.was_present = true;
        let holder = item.get("writer").and_then(|w| w.as_s().ok()).and_then(|w| Writer::parse(w));
        match holder.map(|holder| rule.refusal(holder, self.writer)) {
            Some(Some(refusal)) => Next::Done(refusal),
            Some(None) => Next::Go(self.step),
            None if rule == Rule::Insert => Next::Done(Written::Taken(None)),
            None => Next::Done(Written::not_imported()),
        }
    }

    /// Handles a failed condition without an image of the record. An `UPDATE` fails so if the key does not exist. A
    /// `DELETE` of a missing key succeeds
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.delete.html>), so its failure
    /// says that there is a record: the statement is sent again.
    fn refused_without_image(&self, rule: Rule) -> Next {
        match rule {
            Rule::Update => Next::Done(Written::Missing),
            Rule::Delete => Next::Wait(String::from("the table does not show which writer has the key")),
            Rule::Insert | Rule::Upsert if self.duplicates < 2 => Next::Go(Step::Insert),
            Rule::Insert | Rule::Upsert => Next::Done(unseen_holder()),
        }
    }
}

/// Result for a key whose holder is unknown: `INSERT` twice found an existing key, and `UPDATE` twice was refused,
/// both without an image of the record. The record may be this writer's own, or already removed.
fn unseen_holder() -> Written {
    Written::Unknown(String::from("the key exists, and the table does not show which writer has it"))
}

/// Returns a value as text.
fn text(value: &impl std::fmt::Display) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
