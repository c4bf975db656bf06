//! Collects the comparisons of an audit and its verdict. Unchecked parts never count as equal.

use std::fmt::Display;

use longshore_domain::job::Job;

use super::document::{AuditDocument, Check, Difference, Unchecked};

/// Maximum number of differences that are reported individually. Many differences usually have one cause, and the
/// response must stay bounded.
const REPORTED: usize = 100;

/// Results of the comparisons so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: Vec<Check>,
    differences: Vec<Difference>,
    unchecked: Vec<Unchecked>,
}

impl Findings {
    /// Compares two numbers.
    pub(super) fn count(&mut self, name: &str, place: impl Display, expected: u64, found: u64) {
        self.compare(name, expected, found);
        if expected != found {
            self.differs(name, place, expected, found);
        }
    }

    /// Compares two texts; `found` is `None` if there is no text.
    pub(super) fn text(&mut self, name: &str, place: impl Display, expected: &str, found: Option<&str>) {
        let equal = found == Some(expected);
        self.compare(name, 1, u64::from(equal));
        if !equal {
            self.differs(name, place, expected, found.unwrap_or("nothing"));
        }
    }

    /// Checks that a number is at most the limit.
    pub(super) fn at_most(&mut self, name: &str, place: impl Display, limit: u64, found: u64) {
        let equal = found <= limit;
        self.compare(name, 1, u64::from(equal));
        if !equal {
            self.differs(name, place, format_args!("at most {limit}"), found);
        }
    }

    /// Records a part that could not be checked.
    pub(super) fn mark_unchecked(&mut self, name: &str, reason: impl Into<String>) {
        self.unchecked.push(Unchecked { name: name.to_owned(), reason: reason.into() });
    }

    /// Returns true if everything was checked so far and agrees.
    pub(super) fn is_equal(&self) -> bool {
        !self.differ() && self.unchecked.is_empty()
    }

    fn differ(&self) -> bool {
        self.checks.iter().any(|check| !check.equal)
    }

    /// Converts the findings to the response document.
    pub(super) fn document(self, job: &Job) -> AuditDocument {
        let equal = match (self.differ(), self.unchecked.is_empty()) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        };
        let Self { checks, differences, unchecked } = self;
        AuditDocument { job_id: job.job_id, status: job.status, equal, checks, differences, unchecked }
    }

    fn compare(&mut self, name: &str, expected: u64, found: u64) {
        let known = self.checks.iter().position(|check| check.name == name);
        let at = known.unwrap_or(self.checks.len());
        if known.is_none() {
            self.checks.push(Check { name: name.to_owned(), expected: 0, found: 0, equal: true });
        }
        if let Some(check) = self.checks.get_mut(at) {
            check.expected = check.expected.saturating_add(expected);
            check.found = check.found.saturating_add(found);
            check.equal &= expected == found;
        }
    }

    fn differs(&mut self, name: &str, place: impl Display, expected: impl Display, found: impl Display) {
        if self.differences.len() < REPORTED {
            let (check, place) = (name.to_owned(), place.to_string());
            let (expected, found) = (expected.to_string(), found.to_string());
            self.differences.push(Difference { check, place, expected, found });
        }
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::ids::JobId;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    fn verdict(findings: Findings) -> Option<bool> {
        findings.document(&Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0))).equal
    }

    #[test]
    fn a_job_is_equal_only_if_everything_was_checked_and_agrees() {
        let mut findings = Findings::default();
        findings.count("items", "group 0", 5, 5);
        assert_eq!(verdict(findings), Some(true));
        let mut findings = Findings::default();
        findings.mark_unchecked("report", "the file does not exist");
        assert_eq!(verdict(findings), None);
        let mut findings = Findings::default();
        findings.mark_unchecked("report", "the file does not exist");
        findings.text("sha256", "failed.csv", "ab", Some("cd"));
        assert_eq!(verdict(findings), Some(false));
    }

    #[test]
    fn two_errors_that_cancel_each_other_out_are_two_differences() {
        let mut findings = Findings::default();
        findings.count("items", "group 0", 5, 6);
        findings.count("items", "group 1", 6, 5);
        assert_eq!((findings.differences.len(), findings.differ()), (2, true));
        assert_eq!((findings.checks[0].expected, findings.checks[0].found), (11, 11));
    }

    #[test]
    fn all_differences_count_and_the_first_hundred_are_reported() {
        let mut findings = Findings::default();
        (0..1_000).for_each(|n| findings.count("items", n, 1, 0));
        assert_eq!((findings.differences.len(), findings.checks[0].found), (REPORTED, 0));
    }
}
