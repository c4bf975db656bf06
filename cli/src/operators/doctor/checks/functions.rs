//! States of the functions, reserved concurrency, changes beside a deployment, and the account's quota.

use deployment::finding::{Finding, Severity};
use deployment::quotas;

use super::code::Code;
use crate::operators::doctor::facts::{Facts, Function};

/// Milliseconds between a change of a function and the moment at which CloudFormation has noted it.
const DEPLOYMENT_MS: i64 = 60_000;

/// The usual quota of an account.
const USUAL_QUOTA: u64 = 1_000;

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for function in &facts.functions {
        found.extend(state(facts, function));
        found.extend(reserved(facts, function));
        found.extend(changed(facts, function));
    }
    found.extend(quota(facts));
    found
}

/// Finds a function that cannot be invoked, or runs older code than the stack declares.
fn state(facts: &Facts, function: &Function) -> Option<Finding> {
    let is_broken = matches!(function.state.as_str(), "Failed" | "Inactive" | "Deactivated");
    let problem = match (is_broken, function.update.as_str()) {
        (true, _) => describe("its state", &function.state, function.state_reason.as_deref()),
        (false, "Failed") => describe("its last update", &function.update, function.update_reason.as_deref()),
        _ => return None,
    };
    let show = format!("lambda get-function-configuration --function-name {}", function.name);
    let fix = format!("read the reason with `{}`, then deploy again: sam deploy", facts.stack.aws(&show));
    let consequence = if is_broken { "it cannot be invoked" } else { "it runs the previous version" };
    let finding = Finding::error(&function.id, problem, fix).with_code(Code::FunctionNotReady);
    Some(finding.with_consequence(consequence))
}

fn describe(what: &str, state: &str, reason: Option<&str>) -> String {
    format!("{what} is {state}{}", reason.map_or_else(String::new, |reason| format!(": {reason}")))
}

/// Finds a reserved concurrency, which the template does not set.
fn reserved(facts: &Facts, function: &Function) -> Option<Finding> {
    let reserved = function.reserved?;
    let fix = facts.stack.aws(&format!("lambda delete-function-concurrency --function-name {}", function.name));
    let finding = match reserved {
        0 => {
            Finding::error(&function.id, "its reserved concurrency is 0", fix).with_consequence("it cannot be invoked")
        }
        _ => Finding::warning(&function.id, format!("its reserved concurrency is {reserved}"), fix)
            .with_consequence("messages above it are refused after they were received, and can become dead letters"),
    };
    Some(finding.with_code(Code::FunctionReserved))
}

/// Finds a function that was changed beside a deployment. `cargo xtask` does so on the local stack.
fn changed(facts: &Facts, function: &Function) -> Option<Finding> {
    let (modified, deployed) = (function.modified_at?, function.deployed_at?);
    let is_changed = modified.0 > deployed.0.saturating_add(DEPLOYMENT_MS) && !facts.stack.is_local();
    is_changed.then(|| {
        let problem = format!("it was changed at {}, after its last deployment", modified.to_rfc3339());
        let fix = "deploy the version that shall run: sam deploy";
        let consequence = "its code or settings can differ from those of the other functions, and from template.yaml";
        let finding = Finding::warning(&function.id, problem, fix).with_code(Code::FunctionChanged);
        finding.with_consequence(consequence)
    })
}

/// Compares the concurrency of the enabled mappings with the account's quota.
fn quota(facts: &Facts) -> Vec<Finding> {
    let (Some(quota), Some(mappings)) = (facts.quota, &facts.mappings) else { return Vec::new() };
    if facts.stack.is_local() {
        return Vec::new();
    }
    let enabled = mappings.iter().filter(|mapping| mapping.state == "Enabled");
    let concurrency = enabled.filter_map(|mapping| mapping.concurrency).sum();
    let quota = quota.with_own(facts.functions.iter().filter_map(|function| function.reserved).sum());
    let findings = quotas::findings(concurrency, quota, facts.stack.parameter("Environment"));
    let increase = "service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384";
    let desired = quota.sufficient_for(concurrency).max(USUAL_QUOTA);
    let increase = facts.stack.aws(&format!("{increase} --desired-value {desired}"));
    let diagnose = |finding: Finding| {
        let consequence = match finding.severity {
            Severity::Error => "while imports use all of them, the API answers 503",
            Severity::Warning => "other functions of the account can take what the API needs",
        };
        let fix = format!("{increase} (or: {})", finding.fix);
        Finding { fix, ..finding }.with_code(Code::QuotaTooLow).with_consequence(consequence)
    };
    findings.into_iter().map(diagnose).collect()
}

#[cfg(test)]
mod tests {
    use deployment::quotas::Quota;
    use longshore_domain::timestamp::Timestamp;

    use super::super::tests::{codes, healthy};
    use super::*;

    /// Checks a stack whose first function is changed.
    fn with(change: impl Fn(&mut Function)) -> Vec<Finding> {
        let mut facts = healthy();
        change(&mut facts.functions[0]);
        check(&facts)
    }

    #[test]
    fn a_function_that_is_not_ready_is_found() {
        assert!(with(|_| {}).is_empty());
        assert!(with(|function| function.state = "Pending".to_owned()).is_empty());
        assert!(with(|function| function.update = "InProgress".to_owned()).is_empty());
        let failed = with(|function| function.update = "Failed".to_owned());
        assert_eq!(codes(&failed), ["function_not_ready"]);
        let found = with(|function| {
            function.state = "Failed".to_owned();
            function.state_reason = Some("no disk".to_owned());
        });
        assert_eq!(found[0].problem, "its state is Failed: no disk");
    }

    #[test]
    fn reserved_concurrency_is_an_error_only_if_it_stops_the_function() {
        for (reserved, severity) in [(0, Severity::Error), (5, Severity::Warning)] {
            let found = with(|function| function.reserved = Some(reserved));
            assert_eq!((codes(&found).as_slice(), found[0].severity), (["function_reserved"].as_slice(), severity));
        }
    }

    #[test]
    fn a_change_beside_a_deployment_is_found() {
        let at = |modified: i64| {
            with(|function| {
                (function.modified_at, function.deployed_at) = (Some(Timestamp(modified)), Some(Timestamp(1_000_000)));
            })
        };
        assert!(at(1_060_000).is_empty());
        assert_eq!(codes(&at(1_060_001)), ["function_changed"]);
    }

    #[test]
    fn the_quota_must_leave_a_reserve() {
        for (quota, severity) in [(10, Some(Severity::Error)), (300, Some(Severity::Warning)), (1_000, None)] {
            let found = check(&Facts { quota: Some(Quota::without_reservations(quota)), ..healthy() });
            assert_eq!(found.first().map(|finding| finding.severity), severity, "{quota}");
        }
    }

    #[test]
    fn what_other_functions_have_reserved_is_missing_and_what_own_ones_have_is_not() {
        let with = |unreserved, own| {
            let mut facts = Facts { quota: Some(Quota { total: 1_000, unreserved }), ..healthy() };
            facts.functions[0].reserved = own;
            check(&facts).into_iter().filter(|finding| finding.code.as_deref() == Some("quota_too_low")).collect()
        };
        // The mappings need 280, and a reserve of 50.
        let found: Vec<Finding> = with(100, None);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Error));
        assert!(found[0].fix.contains("--desired-value 1230 "), "{}", found[0]);
        let found: Vec<Finding> = with(100, Some(230));
        assert!(found.is_empty(), "{found:?}");
    }
}
