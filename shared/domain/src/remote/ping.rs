//! The ping of a remote handler: `longshore.ping/1`. Its answer proves that the target belongs to who registers it, and
//! that it knows the contract. The request names the stack, so that a handler can refuse another stack's ping.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::call_result::{Backpressure, CallResult, Reply};
use super::fault::Fault;
use super::json::{JsonError, Kind, require};
use super::object::{Names, Object};
use super::request::{ITEMS_SCHEMA, Mode};
use crate::text::listed;
use crate::timestamp::Timestamp;

/// Name of the ping, in the member `schema` of its request.
pub const PING_SCHEMA: &str = "longshore.ping/1";

/// Maximum size of the answer to a ping, in bytes.
const MAX_PING_BYTES: usize = 64 << 10;

/// The members of the answer.
const PONG: Names<3> = &["schemas", "challenge", "modes"];

/// A ping.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Ping<'a> {
    /// A random text that the answer repeats.
    pub challenge: &'a str,
    /// Name of the stack.
    pub stack: &'a str,
}

impl Serialize for Ping<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Request<'a> {
            schema: &'static str,
            challenge: &'a str,
            stack: &'a str,
        }
        Request { schema: PING_SCHEMA, challenge: self.challenge, stack: self.stack }.serialize(serializer)
    }
}

/// Outcome of a ping.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum PingOutcome {
    /// The handler knows the contract, with these modes; [`Mode::Run`] is one of them.
    Good(Vec<Mode>),
    /// Backpressure: the ping decides nothing and is repeated later.
    Parked(Backpressure),
    /// The handler is at fault.
    Bad(BadPing),
}

impl Ping<'_> {
    /// Decides the outcome of the call that sent the ping.
    pub fn outcome(&self, result: CallResult<'_>, now: Timestamp) -> PingOutcome {
        match result.classify(now) {
            Reply::Answered(answer) => self.read(answer).map_or_else(PingOutcome::Bad, PingOutcome::Good),
            Reply::Parked(backpressure) => PingOutcome::Parked(backpressure),
            Reply::Fault(fault) => PingOutcome::Bad(BadPing::Fault(fault)),
        }
    }

    fn read(&self, answer: &[u8]) -> Result<Vec<Mode>, BadPing> {
        let object = Object::of_answer(answer, MAX_PING_BYTES, PONG)?;
        if object.required_text("challenge")? != self.challenge {
            return Err(BadPing::WrongChallenge);
        }
        let (schemas, modes) = (texts(&object, "schemas")?, texts(&object, "modes")?);
        if !schemas.iter().any(|schema| schema == ITEMS_SCHEMA) {
            return Err(BadPing::UnknownSchemas { found: schemas });
        }
        // Modes of a later version of the contract are ignored.
        let known: Vec<_> =
            [Mode::Run, Mode::Validate].into_iter().filter(|mode| modes.iter().any(|m| m == mode.as_str())).collect();
        if known.contains(&Mode::Run) { Ok(known) } else { Err(BadPing::NoRunMode { found: modes }) }
    }
}

/// Reads an array of strings.
fn texts(object: &Object<'_, 3>, name: &'static str) -> Result<Vec<String>, JsonError> {
    let values = object.array(name)?.ok_or_else(|| JsonError::Missing { path: object.path(name) })?;
    values.into_iter().enumerate().map(|(at, value)| text(value, || format!("{name}[{at}]"))).collect()
}

fn text(value: &RawValue, path: impl Fn() -> String) -> Result<String, JsonError> {
    require(value, Kind::Text, &path)?;
    serde_json::from_str(value.get()).map_err(|error| JsonError::Unreadable { path: path(), error: error.to_string() })
}

/// A ping without a good answer, in words for the person who registers the handler.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum BadPing {
    /// The call failed.
    #[error("the ping failed: {0}")]
    Fault(#[source] Fault),
    /// The JSON has a defect.
    #[error(
        "the answer to the ping cannot be used: {0}; answer requests whose `schema` is \"{PING_SCHEMA}\" with \
             `schemas`, `challenge` and `modes`"
    )]
    Json(#[from] JsonError),
    /// Another challenge.
    #[error("the answer to the ping has another `challenge`; repeat the request's `challenge` unchanged")]
    WrongChallenge,
    /// The handler does not know this version of the contract.
    #[error("`schemas` must contain \"{ITEMS_SCHEMA}\"; it has {}", names(found))]
    UnknownSchemas {
        /// The schemas that it knows.
        found: Vec<String>,
    },
    /// The handler processes no items.
    #[error("`modes` must contain \"run\"; it has {}", names(found))]
    NoRunMode {
        /// The modes that it knows.
        found: Vec<String>,
    },
}

fn names(found: &[String]) -> String {
    if found.is_empty() { "nothing".into() } else { listed(found.iter().map(String::as_str)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: Ping<'_> = Ping { challenge: "c-1", stack: "longshore-prod" };

    fn outcome(answer: &str) -> Result<Vec<Mode>, String> {
        match PING.outcome(CallResult::Returned { payload: answer.as_bytes() }, Timestamp(0)) {
            PingOutcome::Good(modes) => Ok(modes),
            PingOutcome::Bad(bad) => Err(bad.to_string()),
            PingOutcome::Parked(_) => panic!(),
        }
    }

    #[test]
    fn a_ping_names_challenge_and_stack() {
        let expected = r#"{"schema":"longshore.ping/1","challenge":"c-1","stack":"longshore-prod"}"#;
        assert_eq!(serde_json::to_string(&PING).unwrap(), expected);
    }

    #[test]
    fn a_good_answer_names_the_contract_and_the_modes() {
        for (answer, modes) in [
            (
                r#"{"schemas":["longshore.items/1"],"challenge":"c-1","modes":["run","validate"]}"#,
                vec![Mode::Run, Mode::Validate],
            ),
            (
                r#"{"modes":["later","run"],"challenge":"c-1","schemas":["longshore.items/2","longshore.items/1"],"x":1}"#,
                vec![Mode::Run],
            ),
        ] {
            assert_eq!(outcome(answer), Ok(modes));
        }
    }

    #[test]
    fn a_bad_answer_is_explained() {
        for (answer, words) in [
            ("", "is empty"),
            ("pong", "not JSON"),
            ("null", "is null"),
            (r#"{"all":"ok"}"#, "`challenge` is missing"),
            (r#"{"schemas":["longshore.items/1"],"challenge":"c-2","modes":["run"]}"#, "unchanged"),
            (r#"{"schemas":["longshore.items/1"],"challenge":"c-1"}"#, "`modes` is missing"),
            (
                r#"{"schemas":"longshore.items/1","challenge":"c-1","modes":["run"]}"#,
                "`schemas` is a string, not an array",
            ),
            (r#"{"schemas":[1],"challenge":"c-1","modes":["run"]}"#, "`schemas[0]` is a number, not a string"),
            (r#"{"schemas":["longshore.items/2"],"challenge":"c-1","modes":["run"]}"#, r#"it has "longshore.items/2""#),
            (r#"{"schemas":["longshore.items/1"],"challenge":"c-1","modes":[]}"#, "it has nothing"),
        ] {
            let error = outcome(answer).unwrap_err();
            assert!(error.contains(words), "{answer}: {error}");
        }
    }

    #[test]
    fn a_ping_that_fails_is_bad_and_backpressure_decides_nothing() {
        let of = |status| PING.outcome(CallResult::Http { status, retry_after: None, body: b"" }, Timestamp(0));
        assert!(matches!(of(403), PingOutcome::Bad(BadPing::Fault(_))));
        assert!(matches!(of(429), PingOutcome::Parked(_)));
    }
}
