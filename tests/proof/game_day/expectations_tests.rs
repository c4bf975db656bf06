//! Tests of the chains without a stack: samples as the faults make them, findings, and the runbook. Each link is
//! removed once.

use deployment::template::Parameters;
use longshore::metrics::{self, Metric};
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::samples::LogEvent;

use super::cloudwatch::{CloudWatch, of_api, of_queue};
use super::control::Control;
use super::drill::{Drill, Fault};
use super::expectations::Signal;
use super::operator::{Finding, Findings};
use super::recovery::Check;
use super::runbook::Runbook;

/// Seconds of the samples.
const SECONDS: i64 = 60;

/// Time of the evaluation.
const AT_MS: i64 = SECONDS * 1_000;

const ENDED: &str = r#"{"level":"INFO","message":"invocation ended"}"#;

/// Adds an invocation with these metrics, which crashes or ends.
fn invoke(cloudwatch: &mut CloudWatch, function: &str, at_ms: i64, metrics: &str, ends: bool) {
    let lines = metrics.lines().chain(ends.then_some(ENDED)).chain(["REPORT"]);
    let event = |line: &str| LogEvent { stream: format!("{function}{at_ms}"), at_ms, message: line.to_owned() };
    cloudwatch.samples.add_log(function, None, &lines.map(event).collect::<Vec<_>>()).unwrap();
}

/// Returns the lines that a function writes for a metric.
fn lines(metric: Metric, value: &str, at_ms: i64) -> String {
    metrics::count(metric, &[value], 1);
    let mut text = Vec::new();
    metrics::write(&mut text, &metrics::take(), "shop", Timestamp(at_ms)).unwrap();
    String::from_utf8(text).unwrap()
}

/// Adds what a fault makes in one second; without a fault, what a stack makes in any case.
fn play(cloudwatch: &mut CloudWatch, drill: Option<Drill>, at_ms: i64) {
    let fault = drill.map(|drill| drill.fault);
    let worker = ["ProcessItem", "CallHandler"][drill.map_or(0, |drill| drill.variant)];
    let sweep = match fault {
        Some(Fault::PoisonedHandler) => lines(Metric::BreakerOpen, "game-day", at_ms),
        Some(Fault::LostMessages) => lines(Metric::SweeperActions, "send_chunks", at_ms),
        _ => String::new(),
    };
    if fault != Some(Fault::StuckSplit) {
        invoke(cloudwatch, "Sweep", at_ms, &sweep, true);
    }
    let result = if fault == Some(Fault::DeadWebhook) { "failed" } else { "accepted" };
    invoke(cloudwatch, "Deliver", at_ms, &lines(Metric::WebhookAttempts, result, at_ms), true);
    invoke(cloudwatch, worker, at_ms, "", fault != Some(Fault::BadDeployment));
    let dead_letters = if fault == Some(Fault::BadDeployment) { 1.0 } else { 0.0 };
    cloudwatch.samples.add(of_queue("ApproximateNumberOfMessagesVisible", "ChunkDeadLetters"), at_ms, dead_letters);
    for call in 0..20 {
        let is_error = fault == Some(Fault::ThrottledTable) && call % 2 == 0;
        cloudwatch.samples.add(of_api("Count"), at_ms, 1.0);
        cloudwatch.samples.add(of_api("5xx"), at_ms, if is_error { 1.0 } else { 0.0 });
    }
}

fn cloudwatch(drill: Option<Drill>, control: &Control) -> CloudWatch {
    let mut cloudwatch = CloudWatch::new(&Parameters::new(), control).unwrap();
    (0..SECONDS).for_each(|second| play(&mut cloudwatch, drill, second * 1_000));
    cloudwatch
}

/// The metrics of a process are global, so that this is one test.
#[test]
fn each_fault_has_its_signal_and_no_other_and_without_the_alarm_none() {
    let quiet = cloudwatch(None, &Control::default());
    assert!(quiet.raised(AT_MS).is_empty(), "{:?}", quiet.raised(AT_MS));
    for drill in Drill::all() {
        let faulty = cloudwatch(Some(drill), &Control::default());
        for other in Drill::all() {
            let is_on = other.signal().is_on(&faulty, AT_MS);
            assert_eq!(is_on, other.signal().to_string() == drill.signal().to_string(), "{drill}: {other}");
        }
        assert!(!drill.signal().is_on(&quiet, AT_MS), "{drill}");
        let removed = match drill.signal() {
            Signal::Alarms(alarms) => alarms.to_vec(),
            Signal::Metric(metric, _) => vec![metric.name()],
        };
        for link in removed {
            assert!(!drill.signal().is_on(&cloudwatch(Some(drill), &Control::without(link)), AT_MS), "{drill}: {link}");
        }
    }
    let is_over = |check: Check, fault| {
        let drill = Drill { fault, variant: 0 };
        (check.is_met_by(&quiet, AT_MS), check.is_met_by(&cloudwatch(Some(drill), &Control::default()), AT_MS))
    };
    for (check, fault) in [
        (Check::ErrorShare, Fault::ThrottledTable),
        (Check::BreakersClosed, Fault::PoisonedHandler),
        (Check::SweeperRuns, Fault::StuckSplit),
        (Check::NothingPushed, Fault::LostMessages),
        (Check::NoCrash("ProcessItem"), Fault::BadDeployment),
    ] {
        assert_eq!(is_over(check, fault), (true, false), "{check:?}");
    }
}

#[test]
fn without_a_section_or_an_alarm_the_chain_is_broken() {
    let (runbook, complete) = (Runbook::load(), CloudWatch::new(&Parameters::new(), &Control::default()).unwrap());
    for drill in Drill::all() {
        drill.check_links(&complete, &runbook).unwrap();
        for section in drill.sections() {
            assert!(drill.check_links(&complete, &runbook.without(section)).is_err(), "{drill}: {section}");
        }
        let Signal::Alarms(alarms) = drill.signal() else { continue };
        for alarm in alarms {
            let cloudwatch = CloudWatch::new(&Parameters::new(), &Control::without(alarm)).unwrap();
            assert!(drill.check_links(&cloudwatch, &runbook).is_err(), "{drill}: {alarm}");
        }
    }
}

/// Findings with the commands that `doctor` prints.
fn findings(drill: Drill) -> Findings {
    let finding = |code: &&str| {
        let fix = match *code {
            "handler_unavailable" => "longshore types check arn:aws:lambda:r:0:function:h:live",
            "table_throttled" => "wait; if it lasts, compare its limits: aws dynamodb describe-table --table-name jobs",
            "webhook_failing" => {
                "tell the owner, who runs: `longshore webhooks replay w --since 2026-01-01`; to look at it: \
                 `longshore operations webhooks --tenant 't'`"
            }
            "schedule_disabled" => "aws --endpoint-url http://a events enable-rule --name sweep",
            "queue_shared" => "aws --endpoint-url http://a lambda delete-event-source-mapping --uuid u",
            "mapping_disabled" => "aws --endpoint-url http://a lambda update-event-source-mapping --uuid u --enabled",
            _ => "longshore dead-letters list",
        };
        Finding { code: (*code).to_owned(), problem: String::new(), fix: fix.to_owned(), runbook: None }
    };
    Findings(drill.codes().iter().map(finding).collect())
}

#[test]
fn without_a_finding_nothing_is_found() {
    for drill in Drill::all() {
        let all = findings(drill);
        assert!(all.clone().filter_all(drill.codes()).is_some(), "{drill}");
        for code in drill.codes() {
            let rest = all.0.iter().filter(|finding| finding.code != *code).cloned().collect();
            assert!(Findings(rest).filter_all(drill.codes()).is_none(), "{drill}: {code}");
        }
    }
}

#[test]
fn the_commands_are_those_of_the_findings_and_of_the_runbook() {
    let runbook = Runbook::load();
    for drill in Drill::all() {
        let commands = drill.commands(&findings(drill), &runbook).unwrap();
        assert!(!commands.is_empty(), "{drill}");
        let mut others = findings(drill);
        for finding in &mut others.0 {
            finding.fix = "longshore schedules list".to_owned();
        }
        assert!(drill.commands(&others, &runbook).is_err(), "{drill}: another command");
        for section in drill.fixed_by() {
            assert!(drill.commands(&findings(drill), &runbook.without(section)).is_err(), "{drill}: {section}");
        }
    }
}
