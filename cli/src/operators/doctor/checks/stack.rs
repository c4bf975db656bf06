//! The stack's status, the API, and versions.

use deployment::finding::Finding;

use super::code::Code;
use super::consumers::errors_of;
use crate::operators::doctor::facts::{ApiAnswer, Facts};

/// Version of this command.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    status(facts).into_iter().chain(api(facts)).collect()
}

/// Finds a stack that a deployment has not left in order.
fn status(facts: &Facts) -> Option<Finding> {
    let stack = &facts.stack;
    let (name, status) = (&stack.name, stack.status.as_str());
    let reason = stack.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
    let problem = format!("the status is {status}{reason}");
    let events = stack.aws(&format!("cloudformation describe-stack-events --stack-name {name}"));
    let again = format!("read the cause in `{events}`, then deploy again");
    let (code, finding, consequence) = match status {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => return None,
        "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            let consequence = "the last change of the stack failed: the previous version is running";
            (Code::StackFailed, Finding::warning("stack", problem, again), consequence)
        }
        _ if status.ends_with("IN_PROGRESS") => {
            let wait = stack.aws(&format!("cloudformation wait {} --stack-name {name}", waiter(status)));
            let consequence = "a deployment is running, so that other findings can pass with it";
            (Code::StackUpdating, Finding::warning("stack", problem, wait), consequence)
        }
        "UPDATE_ROLLBACK_FAILED" => {
            let fix = stack.aws(&format!("cloudformation continue-update-rollback --stack-name {name}"));
            let consequence = "no deployment is possible in this status";
            (Code::StackFailed, Finding::error("stack", problem, fix), consequence)
        }
        _ => {
            let consequence = "resources can be missing or of another version";
            (Code::StackFailed, Finding::error("stack", problem, again), consequence)
        }
    };
    Some(finding.with_code(code).with_consequence(consequence))
}

/// Returns the waiter of the AWS CLI for the end of a status.
/// <https://docs.aws.amazon.com/cli/latest/reference/cloudformation/wait/>
fn waiter(status: &str) -> &'static str {
    let starts = |start: &str| status.starts_with(start);
    match status {
        // That of rollbacks knows only the end of an update, and would wait for an hour. This one fails at the end.
        "ROLLBACK_IN_PROGRESS" => "stack-create-complete",
        _ if status.contains("ROLLBACK") => "stack-rollback-complete",
        _ if starts("CREATE_") => "stack-create-complete",
        _ if starts("DELETE_") => "stack-delete-complete",
        _ if starts("IMPORT_") => "stack-import-complete",
        _ => "stack-update-complete",
    }
}

/// Finds an API that does not answer, or that has another version than this command.
fn api(facts: &Facts) -> Option<Finding> {
    let url = facts.stack.api_url.as_deref().unwrap_or_default();
    let version = match facts.api.as_ref()? {
        ApiAnswer::Version(version) => version,
        ApiAnswer::Throttled => return Some(throttled(facts)),
        ApiAnswer::Failed(reason) => {
            let problem = format!("it does not answer: {reason}");
            let finding = Finding::error("API", problem, errors_of(facts, "JobsApi")).with_code(Code::ApiUnreachable);
            return Some(finding.with_consequence("users can neither create nor follow jobs"));
        }
    };
    let problem = format!("its version is {version}, and that of this command is {VERSION}");
    let fix = match numbers(version) < numbers(VERSION) {
        true => "deploy the version of this command: docs/guides/deploying.md".to_owned(),
        false => {
            "update the command, in a checkout of the deployed version: cargo install --locked --path cli".to_owned()
        }
    };
    (version != VERSION).then(|| {
        let finding = Finding::warning(format!("API {url}").trim_end(), problem, fix).with_code(Code::VersionSkew);
        finding.with_consequence("the checks of another version can miss problems, or find some that are none")
    })
}

/// Describes an API that refuses calls because there are too many of them.
fn throttled(facts: &Facts) -> Finding {
    let problem = "it answers, but is throttled: each of several tries got 429, too many calls";
    let fix = format!("run this command again later; if it lasts, find who calls: {}", facts.stack.calls_with("429"));
    let consequence = "calls of users can be refused, too, and its version is not compared";
    Finding::warning("API", problem, fix).with_code(Code::ApiUnreachable).with_consequence(consequence)
}

/// Returns the numbers of a version, for comparison.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;

    use super::super::tests::{codes, healthy};
    use super::*;

    #[test]
    fn a_status_that_is_not_complete_is_found() {
        for (status, code) in [
            ("CREATE_COMPLETE", None),
            ("UPDATE_COMPLETE", None),
            ("IMPORT_COMPLETE", None),
            ("IMPORT_ROLLBACK_COMPLETE", Some("stack_failed")),
            ("UPDATE_IN_PROGRESS", Some("stack_updating")),
            ("UPDATE_ROLLBACK_COMPLETE", Some("stack_failed")),
            ("UPDATE_ROLLBACK_FAILED", Some("stack_failed")),
            ("ROLLBACK_COMPLETE", Some("stack_failed")),
        ] {
            let mut facts = healthy();
            facts.stack.status = status.to_owned();
            assert_eq!(codes(&check(&facts)), Vec::from_iter(code), "{status}");
        }
    }

    #[test]
    fn a_rollback_that_is_complete_is_a_warning() {
        for (status, severity) in [
            ("UPDATE_ROLLBACK_COMPLETE", Severity::Warning),
            ("IMPORT_ROLLBACK_COMPLETE", Severity::Warning),
            ("ROLLBACK_COMPLETE", Severity::Error),
        ] {
            let mut facts = healthy();
            facts.stack.status = status.to_owned();
            assert_eq!(check(&facts)[0].severity, severity, "{status}");
        }
    }

    #[test]
    fn a_running_change_is_waited_for_until_its_own_end() {
        for (status, expected) in [
            ("CREATE_IN_PROGRESS", "stack-create-complete"),
            ("ROLLBACK_IN_PROGRESS", "stack-create-complete"),
            ("DELETE_IN_PROGRESS", "stack-delete-complete"),
            ("UPDATE_IN_PROGRESS", "stack-update-complete"),
            ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "stack-update-complete"),
            ("UPDATE_ROLLBACK_IN_PROGRESS", "stack-rollback-complete"),
            ("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", "stack-rollback-complete"),
            ("IMPORT_IN_PROGRESS", "stack-import-complete"),
        ] {
            assert_eq!(waiter(status), expected, "{status}");
        }
    }

    #[test]
    fn the_api_must_answer_with_the_version_of_the_command() {
        let answer = |version: &str| ApiAnswer::Version(version.to_owned());
        for (api, code) in [
            (None, None),
            (Some(answer(VERSION)), None),
            (Some(answer("0.0.1")), Some("version_skew")),
            (Some(ApiAnswer::Failed("timeout".to_owned())), Some("api_unreachable")),
        ] {
            let facts = Facts { api, ..healthy() };
            assert_eq!(codes(&check(&facts)), Vec::from_iter(code), "{:?}", facts.api);
        }
        let fix = |version: &str| api(&Facts { api: Some(answer(version)), ..healthy() }).unwrap().fix;
        assert!(fix("0.0.1").starts_with("deploy") && fix("999.0.0").starts_with("update"));
    }

    #[test]
    fn an_api_that_is_throttled_is_a_warning() {
        let found = check(&Facts { api: Some(ApiAnswer::Throttled), ..healthy() });
        assert_eq!((found.len(), found[0].severity), (1, Severity::Warning));
        assert!(found[0].problem.contains("throttled"), "{}", found[0]);
        assert!(found[0].fix.ends_with(r#"'{ $.status = "429" }'"#), "{}", found[0]);
    }
}
