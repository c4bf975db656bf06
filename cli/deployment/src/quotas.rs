//! Concurrent executions: the maximum for the stack's queues, and the account's quota without what other functions
//! have reserved.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::finding::Finding;
use crate::roles::FUNCTION;
use crate::template::{Parameters, Template};

/// Concurrent executions reserved for the HTTP functions and the sweeper.
const RESERVE: u64 = 50;
/// The environment with the lowest concurrency.
const SMALLEST: &str = "small";

/// Sums the maximum concurrency of all queue mappings that are enabled.
///
/// # Errors
/// If a mapping has no limit, or a limit that is not a literal number.
pub fn mapping_concurrency(template: &Template, values: &Parameters) -> Result<u64> {
    let mut sum = 0;
    for (id, function) in template.of_type(FUNCTION) {
        let events = function["Events"].as_object().into_iter().flatten();
        for (name, event) in events.filter(|(_, event)| event["Type"] == "SQS") {
            if template.resolve(&event["Properties"]["Enabled"], values) == Value::Bool(false) {
                continue;
            }
            let limit = template.resolve(&event["Properties"]["ScalingConfig"]["MaximumConcurrency"], values);
            sum += limit.as_u64().with_context(|| format!("{id}: the event {name} has no MaximumConcurrency"))?;
        }
    }
    Ok(sum)
}

/// Concurrent executions of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The account's quota.
    pub total: u64,
    /// The part of it that functions outside the stack have not reserved, which is what the stack can use.
    pub unreserved: u64,
}

impl Quota {
    /// Creates the quota of an account in which no function has reserved any.
    pub const fn without_reservations(total: u64) -> Self {
        Self { total, unreserved: total }
    }

    /// Returns the quota with these executions, which the stack's own functions have reserved.
    #[must_use]
    pub fn with_own(self, reserved: u64) -> Self {
        Self { unreserved: self.unreserved.saturating_add(reserved).min(self.total), ..self }
    }

    /// Returns the quota with which this concurrency has no findings.
    pub fn sufficient_for(self, concurrency: u64) -> u64 {
        self.total + (concurrency + RESERVE).saturating_sub(self.unreserved)
    }

    fn reserved(self) -> u64 {
        self.total.saturating_sub(self.unreserved)
    }
}

/// Compares the concurrency of the mappings in this environment with the account's quota.
pub fn findings(concurrency: u64, quota: Quota, environment: &str) -> Vec<Finding> {
    let Quota { total, unreserved } = quota;
    let mut limits = format!("the queues can run {concurrency} functions at once, and the account's quota is {total}");
    if quota.reserved() > 0 {
        limits.push_str(&format!(", of which other functions have reserved {}", quota.reserved()));
    }
    if concurrency > unreserved {
        let problem = format!("{limits}: the API would return 503 during an import");
        return vec![Finding::error("account", problem, fix(quota, environment))];
    }
    if concurrency + RESERVE > unreserved {
        let problem = format!("{limits}: little is left for the API and for other stacks");
        return vec![Finding::warning("account", problem, fix(quota, environment))];
    }
    Vec::new()
}

/// Returns the alternatives.
fn fix(quota: Quota, environment: &str) -> String {
    let mut fix = "request a quota increase (Service Quotas, Lambda, Concurrent executions)".to_owned();
    if quota.reserved() > 0 {
        fix.push_str(", or lower what other functions have reserved");
    }
    if environment != SMALLEST {
        fix.push_str(&format!(", or deploy with Environment={SMALLEST}"));
    }
    fix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn severity(concurrency: u64, quota: Quota) -> Option<Severity> {
        findings(concurrency, quota, "production").first().map(|finding| finding.severity)
    }

    #[test]
    fn the_quota_must_leave_a_reserve_for_the_api() {
        let severity = |concurrency, total| severity(concurrency, Quota::without_reservations(total));
        assert_eq!(severity(290, 1000), None);
        assert_eq!(severity(290, 300), Some(Severity::Warning));
        assert_eq!(severity(290, 10), Some(Severity::Error));
        assert_eq!(severity(10, 10), Some(Severity::Warning));
    }

    #[test]
    fn what_other_functions_have_reserved_is_not_available() {
        let quota = |unreserved| Quota { total: 1000, unreserved };
        assert_eq!(severity(290, quota(340)), None);
        assert_eq!(severity(290, quota(300)), Some(Severity::Warning));
        assert_eq!(severity(290, quota(289)), Some(Severity::Error));
        assert_eq!(severity(290, quota(289).with_own(51)), None, "the stack can use what its own functions reserve");
        let finding = findings(290, quota(289), "small").remove(0);
        assert!(finding.problem.contains("quota is 1000, of which other functions have reserved 711"), "{finding}");
        assert!(finding.fix.ends_with("or lower what other functions have reserved"), "{finding}");
    }

    #[test]
    fn a_sufficient_quota_has_no_findings() {
        for (total, unreserved) in [(10, 10), (1000, 300), (1000, 1000)] {
            let quota = Quota { total, unreserved };
            let more = quota.sufficient_for(290) - total;
            assert_eq!(severity(290, Quota { total: total + more, unreserved: unreserved + more }), None, "{quota:?}");
        }
    }

    #[test]
    fn the_smallest_environment_is_not_told_to_use_itself() {
        let fix = |environment| fix(Quota::without_reservations(10), environment);
        assert!(fix("production").ends_with("or deploy with Environment=small"), "{}", fix("production"));
        assert_eq!(fix("small"), "request a quota increase (Service Quotas, Lambda, Concurrent executions)");
    }
}
