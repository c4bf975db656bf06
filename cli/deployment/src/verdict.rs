//! The result of all checks.

use std::fmt::{self, Display};

use crate::finding::{Finding, Severity};

/// A check that needs an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountCheck {
    /// The account's quota of concurrent executions.
    Quota,
    /// Data loss by an update of the deployed stack.
    DataLoss,
}

impl Display for AccountCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quota => "the account's quotas",
            Self::DataLoss => "data loss by an update",
        })
    }
}

/// A check that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCheck {
    /// The check.
    pub check: AccountCheck,
    /// The reason of a failed query; `None` if nothing was queried (`--offline`).
    pub reason: Option<String>,
}

impl Display for SkippedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NOT CHECKED: {}: {}", self.check, self.reason.as_deref().unwrap_or("--offline"))
    }
}

/// Number of findings. A check that was skipped because a query failed counts as a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    errors: usize,
    warnings: usize,
    skipped: Vec<AccountCheck>,
}

impl Verdict {
    /// Counts the findings and the skipped checks.
    pub fn new(findings: &[Finding], skipped: &[SkippedCheck]) -> Self {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let failed = skipped.iter().filter(|skipped| skipped.reason.is_some()).count();
        let warnings = findings.len() - errors + failed;
        Self { errors, warnings, skipped: skipped.iter().map(|skipped| skipped.check).collect() }
    }

    /// Returns true if there is no error.
    pub fn is_ready(&self) -> bool {
        self.errors == 0
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped: Vec<_> = self.skipped.iter().map(ToString::to_string).collect();
        match (self.is_ready(), skipped.is_empty()) {
            (false, _) => write!(f, "not ready to deploy: ")?,
            (true, true) => write!(f, "Ready to deploy: ")?,
            (true, false) => write!(f, "Ready to deploy, as far as checked: ")?,
        }
        write!(f, "{}, {}", count(self.errors, "error"), count(self.warnings, "warning"))?;
        if !skipped.is_empty() {
            write!(f, "; not checked: {}", skipped.join(" and "))?;
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
    fn skipped_checks_are_listed_in_the_verdict() {
        let error = || Finding::error("location", "problem", "fix");
        let warning = || Finding::warning("location", "problem", "fix");
        let both = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            [AccountCheck::Quota, AccountCheck::DataLoss]
                .map(|check| SkippedCheck { check, reason: reason.clone() })
                .to_vec()
        };
        let list = "not checked: the account's quotas and data loss by an update";
        let rows = [
            (vec![], vec![], "Ready to deploy: no errors, no warnings".to_owned()),
            (vec![warning()], vec![], "Ready to deploy: no errors, 1 warning".to_owned()),
            (vec![], both(None), format!("Ready to deploy, as far as checked: no errors, no warnings; {list}")),
            (
                vec![warning()],
                both(Some("no credentials")),
                format!("Ready to deploy, as far as checked: no errors, 3 warnings; {list}"),
            ),
            (vec![error(), error()], both(None), format!("not ready to deploy: 2 errors, no warnings; {list}")),
        ];
        for (findings, skipped, expected) in rows {
            let verdict = Verdict::new(&findings, &skipped);
            assert_eq!(verdict.to_string(), expected);
            assert_eq!(verdict.is_ready(), expected.starts_with("Ready"), "{expected}");
        }
    }
}
