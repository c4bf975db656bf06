//! Names of registered job types.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum characters of a name, which are bytes.
const MAX_CHARS: usize = 40;

/// The name of a registered job type: 1 to 40 of `a-z`, `0-9` and `-`, the first one of `a-z`.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TypeName(String);

/// The error of an invalid name.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("the name of a job type is 1 to {MAX_CHARS} characters of a-z, 0-9 and -, the first one of a-z")]
pub struct BadTypeName;

impl TypeName {
    /// Pattern of a name, as in a JSON Schema.
    pub const PATTERN: &str = "^[a-z][a-z0-9-]{0,39}$";

    /// Parses a name.
    ///
    /// # Errors
    /// If the text is not a valid name.
    pub fn parse(text: &str) -> Result<Self, BadTypeName> {
        if is_name(text) { Ok(Self(text.to_owned())) } else { Err(BadTypeName) }
    }

    /// Creates a name that is part of the program.
    ///
    /// # Panics
    /// If the name is not valid.
    pub fn from_static(name: &'static str) -> Self {
        assert!(is_name(name), "not a valid name of a job type");
        Self(name.to_owned())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= MAX_CHARS
        && text.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && text.bytes().all(is_allowed)
}

impl TryFrom<String> for TypeName {
    type Error = BadTypeName;

    fn try_from(text: String) -> Result<Self, BadTypeName> {
        Self::parse(&text)
    }
}

impl From<TypeName> for String {
    fn from(name: TypeName) -> Self {
        name.0
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_a_short_word_in_lower_case() {
        let longest = format!("a{}", "-".repeat(39));
        for text in ["a", "invite", "send-2", "a--", &longest] {
            assert_eq!(TypeName::parse(text).map(|name| name.to_string()), Ok(text.to_owned()));
        }
        let too_long = format!("{longest}x");
        for text in ["", "2a", "-a", "Invite", "in_vite", "in.vite", "a b", "a/b", "a#b", "\u{fc}", "a\n", &too_long] {
            assert_eq!(TypeName::parse(text), Err(BadTypeName), "{text:?}");
        }
        assert!(serde_json::from_str::<TypeName>("\"A\"").is_err());
    }

    proptest! {
        #[test]
        fn a_name_is_valid_if_and_only_if_it_matches_the_pattern(text in "[a-z0-9A-Z_.#-]{0,42}|.{0,3}") {
            let validator = jsonschema::validator_for(&serde_json::json!({ "pattern": TypeName::PATTERN })).unwrap();
            prop_assert_eq!(TypeName::parse(&text).is_ok(), validator.is_valid(&text.into()));
        }
    }
}
