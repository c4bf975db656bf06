//! Raised alarms, the logs that explain them, their receivers and their links. Alarms that are missing or muted.

use deployment::finding::Finding;

use super::code::Code;
use super::consumers::{consumer_of, errors_of, function_name};
use super::preparations;
use crate::operators::doctor::facts::{Alarm, Facts, MissingAlarm};

/// Functions whose errors are those of `ServerErrorsAlarm`, by their ids in the template.
const API_FUNCTIONS: [&str; 4] = ["Upload", "Inspect", "JobsApi", "Operations"];

/// Milliseconds from the creation of a stack until the alarm of a silent sweeper has data.
const FIRST_DATA_MS: i64 = 900_000;

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let raised = facts.alarms.iter().filter(|alarm| alarm.state == "ALARM");
    let mut found: Vec<_> = raised.map(|alarm| describe(facts, alarm)).collect();
    found.extend(facts.missing_alarms.iter().map(missing));
    found.extend(facts.alarms.iter().filter(|alarm| alarm.is_muted).map(|alarm| muted(facts, alarm)));
    found.extend(receiver(facts));
    found.extend(links(facts));
    found
}

/// Describes an alarm that is raised.
fn describe(facts: &Facts, alarm: &Alarm) -> Finding {
    if has_no_data(facts, alarm) {
        let problem = "it has no data yet, because the stack is younger than 15 minutes";
        return Finding::warning(&alarm.id, problem, "run this command again later").with_code(&alarm.id);
    }
    let since = alarm.since.map_or_else(String::new, |since| format!(" for {}", facts.since(since)));
    let problem = format!("the alarm is raised{since}: {}", alarm.reason);
    let fix = match alarm.id.strip_suffix("DeadLettersAlarm") {
        Some("Webhook") => errors_of(facts, "Deliver"),
        Some(_) => facts.stack.dead_letters(),
        None => command(facts, log_of(&alarm.id)),
    };
    let finding = if alarm.id == preparations::ALARM {
        preparations::old_messages(facts, &alarm.id, problem, fix)
    } else {
        Finding::error(&alarm.id, problem, fix).with_consequence("the section says what it means, and when it is over")
    };
    finding.with_code(&alarm.id)
}

/// Returns true for the alarm that is raised without data, while the stack is new.
fn has_no_data(facts: &Facts, alarm: &Alarm) -> bool {
    let is_new = |created| facts.now.millis_since(created) < FIRST_DATA_MS;
    alarm.id == "SweepSilentAlarm" && facts.stack.created_at.is_some_and(is_new)
}

/// The log that explains an alarm. Functions are named by their ids in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Log<'a> {
    /// Calls of the API that failed.
    Api,
    /// Errors of the functions of the API.
    ApiFunctions,
    /// Errors of a function.
    Errors(&'a str),
    /// Warnings of a function.
    Warnings(&'a str),
}

fn log_of(alarm: &str) -> Log<'_> {
    if let Some(function) = alarm.strip_suffix("AgeAlarm").and_then(consumer_of) {
        return Log::Errors(function);
    }
    match alarm {
        "ApiErrorsAlarm" => Log::Api,
        "CircuitBreakerAlarm" => Log::Warnings("CallHandler"),
        "OldestWaitingJobAlarm" => Log::Errors("CreateJob"),
        "LostChunksAlarm" => Log::Errors("ProcessItem"),
        "ServerErrorsAlarm" => Log::ApiFunctions,
        "SweepSilentAlarm" | "SweepFailuresAlarm" => Log::Errors("Sweep"),
        _ => alarm.strip_suffix("ErrorsAlarm").map_or(Log::Api, Log::Errors),
    }
}

/// Returns the commands that show a log.
fn command(facts: &Facts, log: Log<'_>) -> String {
    let stack = &facts.stack;
    match log {
        Log::Api => stack.calls_with("5*"),
        Log::ApiFunctions => API_FUNCTIONS.map(|function| errors_of(facts, function)).join("; "),
        Log::Errors(function) => errors_of(facts, function),
        Log::Warnings(function) => {
            stack.log(&format!("/aws/lambda/{}", function_name(facts, function)), r#"{ $.level = "WARN" }"#)
        }
    }
}

/// Describes an alarm that somebody has deleted. CloudFormation does not notice it.
fn missing(alarm: &MissingAlarm) -> Finding {
    let id = &alarm.id;
    let fix = format!("give {id} an `AlarmName` in the template and deploy, so that CloudFormation replaces it");
    let finding = Finding::error(id, format!("the alarm {} does not exist: somebody has deleted it", alarm.name), fix);
    let consequence = "nobody is notified, and a deployment of the same template does not create it again";
    finding.with_code(Code::AlarmMissing).with_consequence(consequence)
}

/// Describes an alarm whose actions are disabled.
fn muted(facts: &Facts, alarm: &Alarm) -> Finding {
    let fix = facts.stack.aws(&format!("cloudwatch enable-alarm-actions --alarm-names {}", alarm.name));
    let finding = Finding::warning(&alarm.id, "the actions of the alarm are disabled", fix);
    finding.with_code(Code::AlarmMuted).with_consequence("it changes its state, but notifies nobody")
}

/// Finds alarms that notify nobody.
fn receiver(facts: &Facts) -> Option<Finding> {
    let parameters = &facts.stack.parameters;
    let is_unset = parameters.get("AlarmTopicArn").is_some_and(String::is_empty) && !facts.stack.is_local();
    is_unset.then(|| {
        let fix = "set AlarmTopicArn in samconfig.toml to the ARN of an SNS topic, and run: sam deploy";
        let finding = Finding::warning("AlarmTopicArn", "it is empty", fix).with_code(Code::NoAlarmTopic);
        finding.with_consequence("alarms change their state, but notify nobody")
    })
}

/// Finds links of alarms that do not lead to the runbook. Stacks of earlier versions have no such parameter.
fn links(facts: &Facts) -> Option<Finding> {
    let address = facts.stack.parameters.get("RunbookUrl").filter(|_| !facts.stack.is_local())?;
    let is_url = ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme));
    (!is_url).then(|| {
        let fix = "set RunbookUrl in samconfig.toml to the URL of docs/runbook.md in your copy, and run: sam deploy";
        let finding = Finding::warning("RunbookUrl", format!("{address} is not a URL"), fix);
        let consequence = "the links of alarms, of the dashboard and of the page do not lead to the runbook";
        finding.with_code(Code::NoRunbookUrl).with_consequence(consequence)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deployment::finding::Severity;
    use deployment::roles::FUNCTION;
    use longshore_domain::timestamp::Timestamp;

    use super::super::tests::{codes, healthy, template};
    use super::*;

    fn alarm(id: &str, state: &str) -> Alarm {
        Alarm {
            id: id.to_owned(),
            name: format!("longshore-{id}"),
            state: state.to_owned(),
            reason: "Threshold Crossed".to_owned(),
            since: Some(Timestamp(0)),
            is_muted: false,
        }
    }

    #[test]
    fn a_raised_alarm_is_found_and_names_the_log() {
        let check = |id, state| check(&Facts { alarms: vec![alarm(id, state)], ..healthy() });
        assert!(check("SweepErrorsAlarm", "OK").is_empty());
        assert!(check("SweepErrorsAlarm", "INSUFFICIENT_DATA").is_empty());
        let errors = r#"'?"Task timed out" ?"Runtime exited" ?panicked ?ERROR'"#;
        for (id, command, pattern) in [
            ("SweepErrorsAlarm", "logs tail /aws/lambda/longshore-sweep", errors),
            ("ChunkQueueAgeAlarm", "logs tail /aws/lambda/longshore-process-item", errors),
            ("OldestWaitingJobAlarm", "logs tail /aws/lambda/longshore-create-job", errors),
            ("CircuitBreakerAlarm", "logs tail /aws/lambda/longshore-call-handler", r#"'{ $.level = "WARN" }'"#),
            ("ApiErrorsAlarm", "logs tail /aws/vendedlogs/longshore-api", r#"'{ $.status = "5*" }'"#),
            ("ServerErrorsAlarm", "logs tail /aws/lambda/longshore-upload", errors),
            ("ChunkDeadLettersAlarm", "longshore dead-letters list --api-url https://api.example.com", ""),
        ] {
            let found = check(id, "ALARM");
            assert_eq!(codes(&found), [id]);
            assert!(found[0].fix.contains(command) && found[0].fix.ends_with(pattern), "{}", found[0]);
        }
    }

    #[test]
    fn the_log_of_every_alarm_exists() {
        let template = template();
        let alarms: Vec<_> = template.of_type("AWS::CloudWatch::Alarm").map(|(id, _)| id).collect();
        let functions: Vec<_> = template.of_type(FUNCTION).map(|(id, _)| id).collect();
        assert!(alarms.len() > 20, "{alarms:?}");
        for alarm in alarms.into_iter().filter(|id| !id.ends_with("DeadLettersAlarm")) {
            match log_of(alarm) {
                Log::Api => assert_eq!(alarm, "ApiErrorsAlarm"),
                Log::ApiFunctions => assert_eq!(alarm, "ServerErrorsAlarm"),
                Log::Errors(function) | Log::Warnings(function) => {
                    assert!(functions.contains(&function), "{alarm}: {function}");
                }
            }
        }
    }

    #[test]
    fn the_alarm_of_server_errors_names_the_log_of_every_function_that_it_counts() {
        let template = template();
        let counted = template.of_type("AWS::Logs::MetricFilter").filter_map(|(_, filter)| {
            let is_counted = filter["MetricTransformations"][0]["MetricName"] == "ServerErrors";
            filter["LogGroupName"]["Ref"].as_str()?.strip_suffix("Logs").filter(|_| is_counted)
        });
        assert_eq!(counted.collect::<BTreeSet<_>>(), BTreeSet::from(API_FUNCTIONS));
        let found = check(&Facts { alarms: vec![alarm("ServerErrorsAlarm", "ALARM")], ..healthy() });
        assert_eq!(found[0].fix.matches("aws logs tail ").count(), API_FUNCTIONS.len(), "{}", found[0]);
    }

    #[test]
    fn an_alarm_that_is_missing_is_an_error_and_one_that_is_muted_a_warning() {
        let missing = MissingAlarm { id: "SweepErrorsAlarm".to_owned(), name: "longshore-a".to_owned() };
        let found = check(&Facts { missing_alarms: vec![missing], ..healthy() });
        assert_eq!((codes(&found).as_slice(), found[0].severity), (["alarm_missing"].as_slice(), Severity::Error));
        assert!(found[0].fix.contains("give SweepErrorsAlarm an `AlarmName`"), "{}", found[0]);
        let muted = Alarm { is_muted: true, ..alarm("SweepErrorsAlarm", "OK") };
        let found = check(&Facts { alarms: vec![muted], ..healthy() });
        assert_eq!((codes(&found).as_slice(), found[0].severity), (["alarm_muted"].as_slice(), Severity::Warning));
        assert_eq!(found[0].fix, "aws cloudwatch enable-alarm-actions --alarm-names longshore-SweepErrorsAlarm");
    }

    #[test]
    fn the_alarm_of_old_files_to_prepare_is_a_warning_unless_several_tenants_wait() {
        let found = check(&Facts { alarms: vec![alarm("PrepareQueueAgeAlarm", "ALARM")], ..healthy() });
        assert_eq!(codes(&found), ["PrepareQueueAgeAlarm"]);
        assert_eq!(found[0].severity, Severity::Warning, "{}", found[0]);
        assert!(found[0].consequence.as_deref().is_some_and(|text| text.contains("one tenant")), "{}", found[0]);
    }

    #[test]
    fn a_silent_sweeper_is_a_warning_in_a_new_stack() {
        for (age, severity) in [(FIRST_DATA_MS - 1, Severity::Warning), (FIRST_DATA_MS, Severity::Error)] {
            let mut facts = healthy();
            facts.alarms = vec![alarm("SweepSilentAlarm", "ALARM")];
            facts.stack.created_at = Some(Timestamp(0));
            facts.now = Timestamp(age);
            let found = check(&facts);
            assert_eq!((codes(&found).as_slice(), found[0].severity), (["SweepSilentAlarm"].as_slice(), severity));
        }
    }

    #[test]
    fn alarms_must_notify_somebody_unless_the_stack_is_local() {
        let mut facts = healthy();
        facts.stack.parameters.insert("AlarmTopicArn".to_owned(), String::new());
        assert_eq!(codes(&check(&facts)), ["no_alarm_topic"]);
        facts.stack.parameters.insert("Environment".to_owned(), "local".to_owned());
        assert!(check(&facts).is_empty());
    }

    #[test]
    fn links_of_alarms_must_lead_to_the_runbook_unless_the_stack_is_local() {
        let mut facts = healthy();
        for (address, expected) in [
            ("docs/runbook.md", &["no_runbook_url"][..]),
            ("https://git.example.com/runbook.md", &[]),
            ("http://wiki.local/runbook", &[]),
        ] {
            facts.stack.parameters.insert("RunbookUrl".to_owned(), address.to_owned());
            assert_eq!(codes(&check(&facts)), expected, "{address}");
        }
        facts.stack.parameters.insert("RunbookUrl".to_owned(), "docs/runbook.md".to_owned());
        facts.stack.parameters.insert("Environment".to_owned(), "local".to_owned());
        assert!(check(&facts).is_empty());
    }
}
