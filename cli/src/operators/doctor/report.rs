//! The report: text for people, JSON for scripts, and the exit code.

use anyhow::Result;
use deployment::finding::{Finding, Severity, counted};
use serde_json::{Value, json};

use super::facts::{ApiAnswer, Facts};
use crate::output::documents;
use crate::output::exit::Exit;
use crate::output::printable;

/// The facts, and what is wrong.
pub(super) struct Report {
    pub(super) facts: Facts,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    /// Prints the report for people.
    pub(super) fn print(&self) {
        println!("{}", printable(&self.text()));
    }

    /// Prints the report as JSON.
    pub(super) fn print_json(&self) -> Result<()> {
        documents::print(&self.document())
    }

    /// Returns the exit code. Warnings are no failure, and neither is a skipped check unless `is_strict`.
    pub(super) fn exit(&self, is_strict: bool) -> Exit {
        let is_failure = self.count(Severity::Error) > 0 || (is_strict && !self.facts.skipped.is_empty());
        if is_failure { Exit::Failed } else { Exit::Success }
    }

    fn count(&self, severity: Severity) -> u64 {
        self.findings.iter().filter(|finding| finding.severity == severity).count() as u64
    }

    fn version(&self) -> Option<&str> {
        match self.facts.api.as_ref()? {
            ApiAnswer::Version(version) => Some(version),
            ApiAnswer::Throttled | ApiAnswer::Failed(_) => None,
        }
    }

    fn text(&self) -> String {
        let (facts, version) = (&self.facts, self.version());
        let version = version.map_or_else(String::new, |version| format!(", version {version}"));
        let mut lines = vec![format!("The stack {}: {}{version}", facts.stack.name, facts.stack.status)];
        lines.extend(self.findings.iter().map(|finding| format!("\n{finding}")));
        let skipped = facts.skipped.iter().map(|skipped| format!("NOT CHECKED: {}: {}", skipped.what, skipped.reason));
        let skipped: Vec<_> = skipped.collect();
        if !skipped.is_empty() {
            lines.push(format!("\n{}", skipped.join("\n")));
        }
        lines.push(format!("\n{}", self.verdict()));
        lines.join("\n")
    }

    fn verdict(&self) -> String {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let start = match (errors + warnings, self.facts.skipped.is_empty()) {
            (0, true) => "Nothing is wrong".to_owned(),
            (0, false) => "Nothing is wrong, as far as checked".to_owned(),
            _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        };
        let skipped = match self.facts.skipped.len() {
            0 => String::new(),
            number => format!("; {} skipped", counted(number as u64, "check")),
        };
        format!("{start}{skipped}.")
    }

    /// Returns the document. Members are only added to it, and codes keep their meaning.
    fn document(&self) -> Value {
        let finding = |finding: &Finding| {
            json!({
                "code": finding.code,
                "severity": finding.severity.as_str(),
                "location": finding.location,
                "problem": finding.problem,
                "consequence": finding.consequence,
                "fix": finding.fix,
                "runbook": finding.document,
            })
        };
        let skipped = self.facts.skipped.iter();
        json!({
            "stack": self.facts.stack.name,
            "status": self.facts.stack.status,
            "version": self.version(),
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "notChecked": skipped
                .map(|skipped| json!({ "what": skipped.what, "reason": skipped.reason }))
                .collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{diagnose, tests::healthy};
    use super::super::facts::Skipped;
    use super::*;

    fn report(facts: Facts) -> Report {
        Report { findings: diagnose(&facts), facts }
    }

    #[test]
    fn a_healthy_stack_is_a_success() {
        let version = ApiAnswer::Version(env!("CARGO_PKG_VERSION").to_owned());
        let report = report(Facts { api: Some(version), ..healthy() });
        let expected =
            format!("The stack longshore: UPDATE_COMPLETE, version {}\n\nNothing is wrong.", env!("CARGO_PKG_VERSION"));
        assert_eq!((report.text(), report.exit(true)), (expected, Exit::Success));
        assert_eq!(report.document()["findings"], json!([]));
    }

    #[test]
    fn an_error_is_a_failure_and_a_warning_is_none() {
        let error = report(Facts { cors: Some(Vec::new()), ..healthy() });
        assert_eq!(error.exit(false), Exit::Failed);
        assert!(error.text().ends_with("1 error, no warnings."), "{}", error.text());
        let document = error.document();
        assert_eq!((&document["errors"], &document["findings"][0]["code"]), (&json!(1), &json!("cors_missing")));
        assert!(document["findings"][0]["runbook"].is_string());
        let mut facts = healthy();
        facts.tables[0].has_backups = Some(false);
        let warning = report(facts);
        assert_eq!(warning.exit(true), Exit::Success);
        assert!(warning.text().ends_with("no errors, 1 warning."), "{}", warning.text());
    }

    #[test]
    fn what_was_not_checked_is_named_and_is_a_strict_failure() {
        let mut facts = healthy();
        facts.skipped.push(Skipped { what: "alarms".to_owned(), reason: "AccessDenied".to_owned() });
        let report = report(facts);
        let expected = "NOT CHECKED: alarms: AccessDenied\n\nNothing is wrong, as far as checked; 1 check skipped.";
        assert!(report.text().ends_with(expected), "{}", report.text());
        assert_eq!(report.document()["notChecked"][0]["what"], "alarms");
        assert_eq!((report.exit(false), report.exit(true)), (Exit::Success, Exit::Failed));
    }
}
