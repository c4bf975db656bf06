//! A finding: a problem, its location, and its fix.

use std::fmt::{self, Display};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The deployment would work, but needs attention.
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
    pub problem: String,
    /// The affected file, parameter or resource.
    pub location: String,
    /// The recommended action.
    pub fix: String,
}

impl Finding {
    /// Creates an error.
    pub fn error(location: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Error, problem: problem.into(), location: location.into(), fix: fix.into() }
    }

    /// Creates a warning.
    pub fn warning(location: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(location, problem, fix) }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}: {}\n    fix: {}", self.location, self.problem, self.fix)
    }
}
