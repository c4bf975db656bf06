//! Concurrent executions: the maximum for the stack's queues, and the account's quota.

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

/// Compares the concurrency of the mappings in this environment with the account's quota.
pub fn findings(concurrency: u64, quota: u64, environment: &str) -> Vec<Finding> {
    let increase = "request a quota increase (Service Quotas, Lambda, Concurrent executions)";
    let fix = if environment == SMALLEST {
        increase.to_owned()
    } else {
        format!("{increase}, or deploy with Environment={SMALLEST}")
    };
    let limits = format!("the queues can run {concurrency} functions at once, and the account's quota is {quota}");
    if concurrency > quota {
        let problem = format!("{limits}: the API would return 503 during an import");
        return vec![Finding::error("account", problem, fix)];
    }
    if concurrency + RESERVE > quota {
        let problem = format!("{limits}: little is left for the API and for other stacks");
        return vec![Finding::warning("account", problem, fix)];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn the_quota_must_leave_a_reserve_for_the_api() {
        let severity =
            |concurrency, quota| findings(concurrency, quota, "production").first().map(|finding| finding.severity);
        assert_eq!(severity(290, 1000), None);
        assert_eq!(severity(290, 300), Some(Severity::Warning));
        assert_eq!(severity(290, 10), Some(Severity::Error));
        assert_eq!(severity(10, 10), Some(Severity::Warning));
    }

    #[test]
    fn the_smallest_environment_is_not_told_to_use_itself() {
        let fix = |environment| findings(10, 10, environment).pop().map(|finding| finding.fix).unwrap_or_default();
        assert!(fix("production").ends_with("or deploy with Environment=small"), "{}", fix("production"));
        assert_eq!(fix("small"), "request a quota increase (Service Quotas, Lambda, Concurrent executions)");
    }
}
