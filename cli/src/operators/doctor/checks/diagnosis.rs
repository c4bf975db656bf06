//! All checks, in the order of the report.

use deployment::finding::{Finding, Severity};

use super::{alarms, functions, jobs, queues, stack, storage, webhooks};
use crate::operators::doctor::facts::Facts;
use crate::operators::doctor::runbook;

/// Runs all checks. Errors come first; the order is otherwise that of the checks.
pub(in crate::operators::doctor) fn diagnose(facts: &Facts) -> Vec<Finding> {
    let checks: [fn(&Facts) -> Vec<Finding>; 7] =
        [stack::check, alarms::check, jobs::check, queues::check, functions::check, storage::check, webhooks::check];
    let mut found: Vec<_> = checks.into_iter().flat_map(|check| check(facts)).map(with_section).collect();
    found.sort_by_key(|finding| finding.severity != Severity::Error);
    found
}

/// Adds the section of the runbook for the finding's code.
fn with_section(finding: Finding) -> Finding {
    let section = finding.code.as_deref().and_then(runbook::link);
    finding.with_document(section)
}
