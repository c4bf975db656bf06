//! Output of a run: text while it runs, or one JSON document at its end.

use std::time::Duration;

use longshore_domain::remote::Mode;
use serde::Serialize;

use super::report::{Report, Status};
use super::words::duration;

/// Name and version of the JSON document.
const SCHEMA: &str = "longshore.types-check/1";

/// A whole run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) schema: &'static str,
    pub(super) target: String,
    pub(super) verdict: Verdict,
    /// Mode of the batches; null if none was sent.
    pub(super) mode: Option<Mode>,
    /// Why the handler cannot be reached.
    pub(super) error: Option<String>,
    pub(super) calls: u32,
    pub(super) millis: u64,
    pub(super) counts: Counts,
    pub(super) checks: Vec<Report>,
}

/// End of a run.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Verdict {
    Passed,
    Failed,
    Unreachable,
}

/// Number of checks by status.
#[derive(Serialize)]
pub(super) struct Counts {
    pub(super) ok: usize,
    pub(super) warning: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl Document {
    pub(super) fn new(target: String, checks: Vec<Report>, took: Duration) -> Self {
        let count = |status| checks.iter().filter(|report| report.status == status).count();
        let counts = Counts {
            ok: count(Status::Ok),
            warning: count(Status::Warning),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
        };
        let verdict = if counts.failed > 0 { Verdict::Failed } else { Verdict::Passed };
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { schema: SCHEMA, target, verdict, mode: None, error: None, calls: 0, millis, counts, checks }
    }

    /// Returns the last line of the text.
    pub(super) fn summary(&self) -> String {
        let Counts { ok, warning, failed, skipped } = self.counts;
        let warnings = if warning == 1 { "1 warning".to_owned() } else { format!("{warning} warnings") };
        let took = duration(Duration::from_millis(self.millis));
        let mode = self.mode.map(|mode| format!(", mode {}", mode.as_str())).unwrap_or_default();
        let calls = if self.calls == 1 { "1 call".to_owned() } else { format!("{} calls", self.calls) };
        format!("{failed} failed, {warnings}, {ok} ok, {skipped} skipped: {calls} in {took}{mode}")
    }
}

/// Returns the lines of a check: one, and the evidence of a problem.
pub(super) fn lines(report: &Report) -> String {
    let mut text = format!("{:<8} {:<16} {}", report.status.name(), report.check.title(), report.summary);
    let mut detail = |name: &str, value: &str| text.push_str(&format!("\n           {name:<9} {value}"));
    if matches!(report.status, Status::Warning | Status::Failed) {
        let details = [
            ("sent", report.sent.as_deref()),
            ("received", report.received.as_deref()),
            ("why", report.why),
            ("fix", report.fix),
        ];
        details
            .iter()
            .filter_map(|(name, value)| Some((name, (*value)?)))
            .for_each(|(name, value)| detail(name, value));
    }
    report.notes.iter().for_each(|note| detail("note", note));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::types::check::order::Check;
    use crate::commands::types::check::problems::Problem;
    use crate::commands::types::check::report::Evidence;

    #[test]
    fn a_problem_has_its_evidence_and_an_ok_has_one_line() {
        let evidence = || Evidence { sent: "a ping".into(), received: "nothing".into() };
        let problem = Report::problem(Check::Ping, Problem::WrongChallenge, "another challenge").with(evidence());
        let text = lines(&problem);
        assert!(
            text.starts_with("failed   ping             another challenge\n           sent      a ping\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 5);
        assert_eq!(lines(&Report::ok(Check::Ping, "answered").with(evidence())).lines().count(), 1);
        let document = Document::new("t".into(), vec![problem], Duration::from_millis(1_500));
        assert_eq!(document.verdict, Verdict::Failed);
        assert_eq!(document.summary(), "1 failed, 0 warnings, 0 ok, 0 skipped: 0 calls in 1.50 s");
    }
}
