//! JSON from a handler, read member by member, with errors that name the place and the correction.
//!
//! Members that the contract does not have are ignored, so that a later version can add some. A member that is `null`
//! counts as absent, because many serializers write one for each empty field. A member that occurs twice is an error,
//! because readers of JSON differ in which of the two counts.

use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Kind of a JSON value.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the kind of a value, which its first character determines.
    pub(super) fn of(value: &RawValue) -> Self {
        match value.get().as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::Text,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// A defect of JSON that a handler returned, whatever it is meant to be.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum JsonError {
    /// More bytes than allowed.
    #[error("the answer is larger than {max} bytes, the maximum; return smaller outputs, or register smaller batches")]
    TooLarge {
        /// The maximum.
        max: usize,
    },
    /// No bytes.
    #[error("the answer is empty; return a JSON object")]
    Empty,
    /// Bytes that are not JSON in UTF-8.
    #[error("the answer is not JSON: {error}")]
    NotJson {
        /// The parser's error, with the position.
        error: String,
    },
    /// A JSON value of another kind.
    #[error("the answer is {kind}, not an object{}", hint(*kind))]
    NotAnObject {
        /// The kind.
        kind: Kind,
    },
    /// A member of another kind.
    #[error("`{path}` is {found}, not {expected}")]
    WrongKind {
        /// Path of the member.
        path: String,
        /// Required kind.
        expected: Kind,
        /// Actual kind.
        found: Kind,
    },
    /// A required member that is absent or null.
    #[error("`{path}` is missing")]
    Missing {
        /// Path of the member.
        path: String,
    },
    /// Two members of one name.
    #[error("`{path}` occurs twice in one object")]
    Doubled {
        /// Path of the member.
        path: String,
    },
    /// A value that is JSON, but that common readers of JSON refuse: half of a surrogate pair, a number out of range, or
    /// more than 127 nested values.
    #[error("`{path}` cannot be read: {error}")]
    Unreadable {
        /// Path of the value.
        path: String,
        /// The parser's error.
        error: String,
    },
}

/// Returns the usual cause of an answer that is not an object.
fn hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "; return the object itself, not a string with its JSON",
        Kind::Array => "; an array of results belongs in the member `results`",
        Kind::Null => "; does the handler's function return its answer?",
        _ => "",
    }
}

/// Path of an object within an answer.
#[derive(Copy, Clone, Debug)]
pub(super) enum Place {
    /// The answer itself.
    Root,
    /// A member of the answer.
    Member(&'static str),
    /// An element of the array `results`.
    Result(usize),
}

impl Place {
    /// Returns the path of a member.
    pub(super) fn member(self, name: &str) -> String {
        match self {
            Self::Root => name.to_owned(),
            Self::Member(_) | Self::Result(_) => format!("{self}.{name}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("the answer"),
            Self::Member(name) => f.write_str(name),
            Self::Result(at) => write!(f, "results[{at}]"),
        }
    }
}

/// Returns the text of an answer of at most `max` bytes, without a byte order mark.
pub(super) fn answer_text(bytes: &[u8], max: usize) -> Result<&str, JsonError> {
    if bytes.len() > max {
        return Err(JsonError::TooLarge { max });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonError::NotJson { error: format!("not UTF-8 at byte {}", error.valid_up_to() + 1) })?;
    // A reader of JSON may ignore a byte order mark (RFC 8259, section 8.1).
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim_ascii().is_empty() { Err(JsonError::Empty) } else { Ok(text) }
}

/// Checks that an answer is a JSON object.
pub(super) fn check_object(text: &str) -> Result<(), JsonError> {
    let value: &RawValue =
        serde_json::from_str(text).map_err(|error| JsonError::NotJson { error: error.to_string() })?;
    match Kind::of(value) {
        Kind::Object => Ok(()),
        kind => Err(JsonError::NotAnObject { kind }),
    }
}

/// Checks that a value is of a kind.
pub(super) fn require(value: &RawValue, expected: Kind, path: impl FnOnce() -> String) -> Result<(), JsonError> {
    match Kind::of(value) {
        found if found == expected => Ok(()),
        found => Err(JsonError::WrongKind { path: path(), expected, found }),
    }
}

/// Checks that every reader of JSON can read a value.
pub(super) fn check_readable(value: &RawValue, path: impl FnOnce() -> String) -> Result<(), JsonError> {
    let checked = serde_json::from_str::<Readable>(value.get());
    checked.map(|Readable| ()).map_err(|error| JsonError::Unreadable { path: path(), error: error.to_string() })
}

/// Any value that a reader of JSON can read. Nothing of it is kept.
struct Readable;

impl<'de> serde::Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
