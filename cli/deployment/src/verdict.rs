//! The result of all checks.

use std::fmt::{self, Display};

use crate::finding::{Finding, Severity};

/// A check that needs AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The account's quota of concurrent executions.
    Quota,
    /// Data losses of an update.
    Losses,
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quota => "the account's quotas",
            Self::Losses => "what an update would lose",
        })
    }
}

/// A check that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotChecked {
    /// The skipped check.
    pub part: Part,
    /// The reason; `None` if the check was not requested.
    pub reason: Option<String>,
}

impl Display for NotChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NOT CHECKED: {}: {}", self.part, self.reason.as_deref().unwrap_or("--offline"))
    }
}

/// Counts of findings. A check that failed to run counts as a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    errors: usize,
    warnings: usize,
    not_checked: Vec<Part>,
}

impl Verdict {
    /// Counts the findings and the skipped checks.
    pub fn new(found: &[Finding], not_checked: &[NotChecked]) -> Self {
        let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
        let failed = not_checked.iter().filter(|part| part.reason.is_some()).count();
        let parts = not_checked.iter().map(|not_checked| not_checked.part).collect();
        Self { errors, warnings: found.len() - errors + failed, not_checked: parts }
    }

    /// Returns true if there is no error.
    pub fn is_ready(&self) -> bool {
        self.errors == 0
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.not_checked.iter().map(ToString::to_string).collect();
        match (self.is_ready(), parts.is_empty()) {
            (false, _) => write!(f, "not ready to deploy: ")?,
            (true, true) => write!(f, "Ready to deploy: ")?,
            (true, false) => write!(f, "Ready to deploy as far as it was checked: ")?,
        }
        write!(f, "{}, {}", count(self.errors, "error"), count(self.warnings, "warning"))?;
        if !parts.is_empty() {
            write!(f, "; not checked: {}", parts.join(" and "))?;
        }
        Ok(())
    }
}

fn count(number: usize, noun: &str) -> String {
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
    fn parts_that_were_not_checked_are_in_the_verdict() {
        let error = || Finding::error("here", "what", "fix");
        let warning = || Finding::warning("here", "what", "fix");
        let both = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            [Part::Quota, Part::Losses].map(|part| NotChecked { part, reason: reason.clone() }).to_vec()
        };
        let parts = "not checked: the account's quotas and what an update would lose";
        let rows = [
            (vec![], vec![], "Ready to deploy: no errors, no warnings".to_owned()),
            (vec![warning()], vec![], "Ready to deploy: no errors, 1 warning".to_owned()),
            (vec![], both(None), format!("Ready to deploy as far as it was checked: no errors, no warnings; {parts}")),
            (
                vec![warning()],
                both(Some("no credentials")),
                format!("Ready to deploy as far as it was checked: no errors, 3 warnings; {parts}"),
            ),
            (vec![error(), error()], both(None), format!("not ready to deploy: 2 errors, no warnings; {parts}")),
        ];
        for (found, not_checked, expected) in rows {
            let verdict = Verdict::new(&found, &not_checked);
            assert_eq!(verdict.to_string(), expected);
            assert_eq!(verdict.is_ready(), expected.starts_with("Ready"), "{expected}");
        }
    }
}
