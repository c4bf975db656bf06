//! Versions of registrations, and revisions of stored ones.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::random;
use crate::timestamp::Timestamp;

/// The version of a registration: its time in milliseconds, and a random name, so that no two calls share a version.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// Returns a new version.
    pub fn generate(now: Timestamp) -> Self {
        Self(format!("{}-{}", now.0, random::nonce()))
    }

    /// Returns a version that was stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything that a write can change, except the content of a version, which never changes. A write that is based on a
/// read is applied if and only if the stored revision is still the one that was read.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Revision {
    /// Version of the active registration.
    pub active: Option<Version>,
    /// Version of the candidate.
    pub candidate: Option<Version>,
    /// True if the candidate is refused.
    pub is_refused: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_same_millisecond_differ() {
        let now = Timestamp(1_700_000_000_000);
        let (first, second) = (Version::generate(now), Version::generate(now));
        assert_ne!(first, second);
        assert!(first.as_str().starts_with("1700000000000-"), "{first}");
    }
}
