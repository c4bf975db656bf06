//! The pure half of the adapter: one record's write as a PartiQL statement, the meaning of its response, and the number
//! of statements in flight.
//!
//! That number is limited, and adapted to the table's capacity: it grows after each call without throttling, and halves
//! after one with throttled statements. An on-demand table begins with 4,000 write units a second and a partition takes
//! 1,000 (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html>). Statements
//! above that are refused one by one, and each still costs a call. Additive increase and multiplicative decrease
//! bring any number of independent workers near to the limit, and to equal shares of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeValue, BatchStatementError, BatchStatementErrorCodeEnum as Code, BatchStatementRequest,
    ReturnValuesOnConditionCheckFailure,
};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::NewRecord;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer, Written};

use crate::aws_limits::dynamodb::BATCH_STATEMENTS;
use crate::store::records::shard;

/// The statement to send for a record.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Step {
    /// Writes the record if the key does not exist.
    Insert,
    /// Overwrites the existing record, if the rule allows.
    Update,
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
    /// Number of times that `INSERT` found the key to exist.
    duplicates: u32,
    key: [AttributeValue; 2],
    values: [AttributeValue; 3],
    writer: Writer,
}

impl Pending {
    /// Converts a record to the table's types.
    pub(super) fn new(into: &Dataset, index: usize, record: NewRecord, step: Step, now: Timestamp) -> Self {
        let partition = shard::partition(into, shard::shard_of(&record.key));
        // DynamoDB can represent each JSON value, so this cannot fail.
        let data = serde_dynamo::to_attribute_value(record.data).unwrap_or(AttributeValue::Null(true));
        Self {
            index,
            step,
            was_present: false,
            duplicates: 0,
            key: [AttributeValue::S(partition), AttributeValue::S(record.key)],
            values: [data, AttributeValue::S(record.writer.to_string()), AttributeValue::N(now.0.to_string())],
            writer: record.writer,
        }
    }

    /// Returns the statement of the current step. Idempotent: an `UPDATE` accepts its own writer, under every rule, and
    /// a `DELETE` succeeds if there is no record.
    pub(super) fn statement(&self, table: &str, rule: Rule) -> Result<BatchStatementRequest, BuildError> {
        let (key, values) = (self.key.iter().cloned(), self.values.iter().cloned());
        let builder = BatchStatementRequest::builder();
        let builder = match self.step {
            Step::Insert => builder.statement(insert(table)).set_parameters(Some(key.chain(values).collect())),
            Step::Update => builder
                .statement(update(table, rule))
                .set_parameters(Some(values.chain(key).chain([self.values[1].clone()]).collect()))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld),
            Step::Delete => builder
                .statement(delete(table))
                .set_parameters(Some(key.chain([self.values[1].clone()]).collect()))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld),
        };
        builder.build()
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
            Some(Code::DuplicateItem) => {
                self.was_present = true;
                self.duplicates += 1;
                Next::Go(Step::Update)
            }
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
            None => Next::Done(Written::Refused(String::from("the key belongs to a record that no import wrote"))),
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

/// Key: `PK`, `SK`. Condition, built into `INSERT`: the item does not exist.
fn insert(table: &str) -> String {
    format!(r#"INSERT INTO "{table}" VALUE {{'PK': ?, 'SK': ?, 'data': ?, 'writer': ?, 'updatedAt': ?}}"#)
}

/// Key: `PK`, `SK`. Condition: the item exists, and its writer is this one or, unless the rule is an insert, an earlier
/// one. Keeps other attributes of the item, in particular `expiresAt`.
fn update(table: &str, rule: Rule) -> String {
    let holder = match rule {
        Rule::Insert => "=",
        Rule::Upsert | Rule::Update | Rule::Delete => "<=",
    };
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ? WHERE "PK" = ? AND "SK" = ? AND "writer" {holder} ?"#
    )
}

/// Key: `PK`, `SK`. Condition: the item does not exist, or its writer is this one or an earlier one.
fn delete(table: &str) -> String {
    format!(r#"DELETE FROM "{table}" WHERE "PK" = ? AND "SK" = ? AND "writer" <= ?"#)
}

/// Statements in one `BatchExecuteStatement`.
pub(super) const STATEMENTS: usize = BATCH_STATEMENTS;
/// Maximum number of statements in flight: eight full calls. Enough to hide a call's 10 ms; more would only queue up
/// in one Lambda's CPU share.
const MAX_STATEMENTS: usize = 8 * STATEMENTS;
/// Statements added after each call without throttling.
const GAIN: usize = 2;

/// The write rate of one process.
#[derive(Debug)]
pub(super) struct WriteRate(Mutex<Window>);

#[derive(Debug)]
struct Window {
    statements: usize,
    /// Calls that were in flight at the last halving: their results do not concern the new rate.
    stale_calls: usize,
}

impl Default for WriteRate {
    fn default() -> Self {
        Self(Mutex::new(Window { statements: MAX_STATEMENTS, stale_calls: 0 }))
    }
}

impl Window {
    /// Returns true if the returned call was sent before the last reduction, and counts it.
    fn is_stale(&mut self) -> bool {
        let is_stale = self.stale_calls > 0;
        self.stale_calls = self.stale_calls.saturating_sub(1);
        is_stale
    }
}

impl WriteRate {
    /// Returns the maximum number of statements in flight, at least 1.
    pub(super) fn statements(&self) -> usize {
        self.window().statements
    }

    /// Records an accepted call.
    pub(super) fn accepted(&self) {
        let mut window = self.window();
        if !window.is_stale() {
            window.statements = (window.statements + GAIN).min(MAX_STATEMENTS);
        }
    }

    /// Records a throttled call, and the number of other calls that were in flight.
    pub(super) fn throttled(&self, in_flight: usize) {
        let mut window = self.window();
        if !window.is_stale() {
            window.statements = (window.statements / 2).max(1);
            window.stale_calls = in_flight;
        }
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
