//! A finding: a problem, its location, and its fix.

use std::fmt::{self, Display};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The deployment would work, but deserves attention.
    Warning,
    /// The deployment would fail, not work, or lose data.
    Error,
}

/// One result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity.
    pub severity: Severity,
    /// Description of the problem.
    pub what: String,
    /// The affected file, parameter or resource.
    pub place: String,
    /// The recommended action.
    pub fix: String,
}

impl Finding {
    /// Creates an error.
    pub fn error(place: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Error, what: what.into(), place: place.into(), fix: fix.into() }
    }

    /// Creates a warning.
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
