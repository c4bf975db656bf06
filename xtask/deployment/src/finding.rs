//! A finding: what is wrong, where, and how to fix it.

use std::fmt::{self, Display};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The deployment would work; something is worth knowing.
    Warning,
    /// The deployment would fail, not work, or lose something.
    Error,
}

/// One result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// The file, parameter or resource that is wrong.
    pub place: String,
    /// What to do about it.
    pub fix: String,
}

impl Finding {
    /// A deployment that would not work.
    pub fn error(place: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Error, what: what.into(), place: place.into(), fix: fix.into() }
    }

    /// Something worth knowing.
    pub fn warning(place: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, what, fix) }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{mark}: {}: {}\n    fix: {}", self.place, self.what, self.fix)
    }
}
