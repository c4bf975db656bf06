//! Concurrent executions: the maximum for the stack's queues, and the account's quota.

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::roles::FUNCTION;
use crate::template::{Parameters, Template};

/// Executions reserved for the HTTP functions and the sweeper.
const ROOM: u64 = 50;
/// The environment with the fewest executions.
const SMALLEST: &str = "small";

/// Sums the maximum concurrency of all queue mappings.
///
/// # Errors
/// If a mapping has no limit, or a limit that is not a literal number.
pub fn mappings_at_once(template: &Template, given: &Parameters) -> Result<u64> {
    let mut sum = 0;
    for (id, function) in template.of_type(FUNCTION) {
        let events = function["Events"].as_object().into_iter().flatten();
        for (name, event) in events.filter(|(_, event)| event["Type"] == "SQS") {
            let limit = template.resolve(&event["Properties"]["ScalingConfig"]["MaximumConcurrency"], given);
            sum += limit.as_u64().with_context(|| format!("{id}: {name} has no MaximumConcurrency"))?;
        }
    }
    Ok(sum)
}

/// Compares the mappings' concurrency with the account's quota, for a deployment of this environment.
pub fn findings(at_once: u64, quota: u64, environment: &str) -> Vec<Finding> {
    let more = "ask for more (Service Quotas, Lambda, Concurrent executions)";
    let fix = if environment == SMALLEST {
        more.to_owned()
    } else {
        format!("{more}, or deploy with Environment={SMALLEST}")
    };
    let what = format!("the queues may run {at_once} functions at once, and the account may run {quota} in all");
    if at_once > quota {
        let what = format!("{what}: the API answers 503 while an import runs");
        return vec![Finding::error("account", what, fix)];
    }
    if at_once + ROOM > quota {
        let what = format!("{what}: little is left for the API and for other stacks");
        return vec![Finding::warning("account", what, fix)];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn a_quota_must_leave_room_for_the_api() {
        let worst = |at_once, quota| findings(at_once, quota, "production").first().map(|finding| finding.severity);
        assert_eq!(worst(290, 1000), None);
        assert_eq!(worst(290, 300), Some(Severity::Warning));
        assert_eq!(worst(290, 10), Some(Severity::Error));
        assert_eq!(worst(10, 10), Some(Severity::Warning));
    }

    #[test]
    fn the_smallest_environment_is_not_advised_to_itself() {
        let fix = |environment| findings(10, 10, environment).pop().map(|finding| finding.fix).unwrap_or_default();
        assert!(fix("production").ends_with("or deploy with Environment=small"), "{}", fix("production"));
        assert_eq!(fix("small"), "ask for more (Service Quotas, Lambda, Concurrent executions)");
    }
}
