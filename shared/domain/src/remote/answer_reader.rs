//! The reader of answers. An answer is accepted as a whole or not at all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use serde_json::value::RawValue;

use super::answer::{Answer, AnsweredItems, ItemOutcome};
use super::bad_answer::{BadAnswer, BadAnswerReason};
use super::json::{JsonError, Place, check_readable};
use super::limits::MAX_ANSWER_BYTES;
use super::object::{Names, Object};
use crate::ids::ItemKey;
use crate::outcome::{CODE_BYTES, MESSAGE_BYTES, Outcome, Rejection};
use crate::text::{NAME_CHARS, cut, quoted, shortened};

/// The members of which an answer has one.
const FORMS: Names<4> = &["results", "all", "retryBatch", "fatal"];
/// The members of a result, of `retryBatch` and of `fatal`.
const RESULT: Names<8> = &["key", "outcome", "output", "code", "field", "message", "after", "reason"];

/// Reason of a retry without one.
const NO_REASON: &str = "the handler gave no reason";

type Read<T> = Result<T, BadAnswerReason>;

/// Reads the answer to a request with these keys, which are distinct.
///
/// # Errors
/// Returns the first defect. Nothing of the answer counts then.
pub fn read_answer(answer: &[u8], keys: &[ItemKey]) -> Result<Answer, BadAnswer> {
    read(answer, keys).map_err(|reason| BadAnswer::new(reason, answer))
}

fn read(answer: &[u8], keys: &[ItemKey]) -> Read<Answer> {
    let object = Object::of_answer(answer, MAX_ANSWER_BYTES, FORMS)?;
    let forms: Vec<_> = object.present().collect();
    match forms[..] {
        ["results"] => items(&object, keys).map(Answer::Items),
        ["all"] => all(&object.required_text("all")?, keys).map(Answer::Items),
        ["retryBatch"] => retry_batch(&member(&object, "retryBatch")?),
        ["fatal"] => rejection(&member(&object, "fatal")?).map(Answer::Fatal),
        [] => Err(no_form(&object)),
        _ => Err(BadAnswerReason::SeveralForms { forms }),
    }
}

fn no_form(object: &Object<'_, 4>) -> BadAnswerReason {
    let others = object.others.iter().map(|name| shortened(name, NAME_CHARS));
    BadAnswerReason::NoForm { others: others.collect() }
}

fn member<'a>(object: &Object<'a, 4>, name: &'static str) -> Read<Object<'a, 8>> {
    let value = object.get(name).ok_or_else(|| JsonError::Missing { path: name.to_owned() })?;
    Ok(Object::read(value, Place::Member(name), RESULT)?)
}

fn all(outcome: &str, keys: &[ItemKey]) -> Read<AnsweredItems> {
    match outcome {
        "ok" => Ok(AnsweredItems::new(keys.iter().map(|_| Some(Outcome::Ok(None))).collect())),
        _ => Err(BadAnswerReason::UnknownAll { found: quoted(outcome) }),
    }
}

fn retry_batch(object: &Object<'_, 8>) -> Read<Answer> {
    Ok(Answer::RetryBatch { after: object.wait("after")?, reason: reason(object)? })
}

/// Reads one result after the other, so that the error is that of the first bad one.
fn items(object: &Object<'_, 4>, keys: &[ItemKey]) -> Read<AnsweredItems> {
    // One result more than keys is always an error: its key is unknown or occurs twice. Later results are not needed.
    let results = object.results(RESULT, keys.len() + 1)?;
    if results.is_empty() {
        return Err(BadAnswerReason::NoResults);
    }
    let mut sent = SentKeys::new(keys);
    let mut outcomes: Vec<_> = keys.iter().map(|_| None).collect();
    for result in results {
        let result = result?;
        let (path, found) = (|| result.path("key"), result.required_text("key")?);
        let Some(position) = sent.position(&found) else {
            return Err(BadAnswerReason::UnknownKey { path: path(), found: quoted(&found) });
        };
        if outcomes[position].is_some() {
            return Err(BadAnswerReason::DoubledKey { path: path(), found: quoted(&found) });
        }
        outcomes[position] = Some(outcome(&result)?);
    }
    Ok(AnsweredItems::new(outcomes))
}

/// Positions of the keys of a request. A key in the order of the request is found without the map.
struct SentKeys<'a> {
    keys: &'a [ItemKey],
    /// Position after the last key found.
    next: usize,
    /// Text of the key at `next`.
    text: String,
    /// Positions of all keys. Built at the first key that is out of order.
    positions: Option<HashMap<String, usize>>,
}

impl<'a> SentKeys<'a> {
    fn new(keys: &'a [ItemKey]) -> Self {
        let mut sent = Self { keys, next: 0, text: String::new(), positions: None };
        sent.continue_at(0);
        sent
    }

    /// Returns the position of a key; `None` if it was not sent.
    fn position(&mut self, key: &str) -> Option<usize> {
        let position = if self.next < self.keys.len() && self.text == key {
            self.next
        } else {
            let of = |(at, key): (usize, &ItemKey)| (key.to_string(), at);
            *self.positions.get_or_insert_with(|| self.keys.iter().enumerate().map(of).collect()).get(key)?
        };
        self.continue_at(position + 1);
        Some(position)
    }

    fn continue_at(&mut self, next: usize) {
        self.next = next;
        self.text.clear();
        if let Some(key) = self.keys.get(next) {
            // Writing to a string does not fail.
            let _ = write!(self.text, "{key}");
        }
    }
}

/// Reads the members that the outcome has; others are ignored.
fn outcome(result: &Object<'_, 8>) -> Read<ItemOutcome> {
    let found = result.required_text("outcome")?;
    match &*found {
        "ok" => Ok(Outcome::Ok(output(result)?)),
        "skip" => Ok(Outcome::Skip { reason: code(result)? }),
        "reject" => Ok(Outcome::Reject(rejection(result)?)),
        "retry" => Ok(Outcome::Retry { after: result.wait("after")?, reason: reason(result)? }),
        _ => Err(BadAnswerReason::UnknownOutcome { path: result.path("outcome"), found: quoted(&found) }),
    }
}

fn output(result: &Object<'_, 8>) -> Read<Option<Box<RawValue>>> {
    let Some(output) = result.get("output") else { return Ok(None) };
    check_readable(output, || result.path("output"))?;
    Ok(Some(output.to_owned()))
}

fn rejection(object: &Object<'_, 8>) -> Read<Rejection> {
    let (code, field) = (code(object)?, object.text("field")?);
    let message = object.text("message")?.map_or_else(|| code.clone(), Cow::into_owned);
    Ok(Rejection::new(code, field.as_deref(), message))
}

fn code(object: &Object<'_, 8>) -> Read<String> {
    let code = object.required_text("code")?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if code.len() <= CODE_BYTES && code.starts_with(|c: char| c.is_ascii_lowercase()) && code.bytes().all(is_name) {
        return Ok(code.into_owned());
    }
    Err(BadAnswerReason::BadCode { path: object.path("code"), found: quoted(&code) })
}

fn reason(object: &Object<'_, 8>) -> Read<String> {
    let mut reason = object.text("reason")?.map_or_else(|| NO_REASON.to_owned(), Cow::into_owned);
    cut(&mut reason, MESSAGE_BYTES);
    Ok(reason)
}
