//! A finding: a problem, its location, its consequence, and its fix. Checks before a deployment and those of a running
//! stack have the same.

use std::fmt::{self, Display};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The stack works, but needs attention.
    Warning,
    /// The stack does not work, or loses data; a deployment would fail.
    Error,
}

impl Severity {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the kind of problem, for scripts and for links to a document; `None` if the check has none.
    pub code: Option<String>,
    /// Severity.
    pub severity: Severity,
    /// Description of the problem.
    pub problem: String,
    /// The affected file, parameter or resource.
    pub location: String,
    /// The recommended action.
    pub fix: String,
    /// The consequence; `None` if the problem says it.
    pub consequence: Option<String>,
    /// The document that explains the problem.
    pub document: Option<String>,
}

impl Finding {
    /// Creates an error.
    pub fn error(location: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            code: None,
            severity: Severity::Error,
            problem: problem.into(),
            location: location.into(),
            fix: fix.into(),
            consequence: None,
            document: None,
        }
    }

    /// Creates a warning.
    pub fn warning(location: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(location, problem, fix) }
    }

    /// Adds the code.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    /// Adds the consequence.
    #[must_use]
    pub fn with_consequence(self, consequence: impl Into<String>) -> Self {
        Self { consequence: Some(consequence.into()), ..self }
    }

    /// Adds the document that explains the problem.
    #[must_use]
    pub fn with_document(self, document: Option<String>) -> Self {
        Self { document, ..self }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity.as_str(), self.location, self.problem)?;
        if let Some(consequence) = &self.consequence {
            write!(f, "\n    consequence: {consequence}")?;
        }
        write!(f, "\n    fix: {}", self.fix)?;
        if let Some(document) = &self.document {
            write!(f, "\n    see: {document}")?;
        }
        Ok(())
    }
}

/// Returns a number with its noun, such as `no errors`, `1 error` or `2 errors`.
pub fn counted(number: u64, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_a_line_for_each_part_that_it_has() {
        let finding = Finding::warning("queue", "it is full", "wait");
        assert_eq!(finding.to_string(), "warning: queue: it is full\n    fix: wait");
        let finding = finding.with_consequence("jobs are refused").with_document(Some("a.md#b".to_owned()));
        let expected = "warning: queue: it is full\n    consequence: jobs are refused\n    fix: wait\n    see: a.md#b";
        assert_eq!(finding.to_string(), expected);
    }
}
