//! A stack in which nothing is wrong, and checks over all findings.

use deployment::finding::Finding;
use deployment::quotas::Quota;
use deployment::template::Template;

use super::consumers::CONSUMERS;
use super::diagnose;
use crate::operators::doctor::facts::{
    CorsRule, Facts, Function, Mapping, Queue, Schedule, Stack, Table, UnfinishedJobs,
};

const PARAMETERS: [(&str, &str); 6] = [
    ("Environment", "production"),
    ("AlarmTopicArn", "arn:aws:sns:eu-central-1:123456789012:alarms"),
    ("AllowedOrigins", "self"),
    ("OldestMessageAlarmSeconds", "3600"),
    ("MaxQueuedChunks", "100000"),
    ("ScheduleState", "ENABLED"),
];

const FUNCTIONS: [(&str, &str); 5] = [
    ("Sweep", "longshore-sweep"),
    ("ProcessItem", "longshore-process-item"),
    ("CreateJob", "longshore-create-job"),
    ("CallHandler", "longshore-call-handler"),
    ("Upload", "longshore-upload"),
];

/// Returns the facts of a stack in which nothing is wrong.
pub(in crate::operators::doctor) fn healthy() -> Facts {
    let api_url = "https://api.example.com";
    Facts {
        stack: Stack {
            name: "longshore".to_owned(),
            status: "UPDATE_COMPLETE".to_owned(),
            parameters: PARAMETERS.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            api_url: Some(api_url.to_owned()),
            ..Stack::default()
        },
        queues: queues(),
        functions: FUNCTIONS.map(function).into(),
        mappings: Some(CONSUMERS.map(mapping).into()),
        foreign_readers: Some(Vec::new()),
        quota: Some(Quota::without_reservations(1_000)),
        tables: vec![Table {
            name: "longshore-JobsTable".to_owned(),
            status: "ACTIVE".to_owned(),
            expires: Some(true),
            has_backups: Some(true),
            throttled: Some(0),
            ..Table::default()
        }],
        cors: Some(vec![CorsRule {
            origins: vec![api_url.to_owned()],
            methods: vec!["PUT".to_owned(), "GET".to_owned()],
        }]),
        schedules: Some(vec![Schedule { name: "longshore-SweepEveryMinute".to_owned(), state: "ENABLED".to_owned() }]),
        jobs: UnfinishedJobs { jobs: Vec::new(), are_all: true },
        ..Facts::default()
    }
}

fn queues() -> Vec<Queue> {
    let queue = |id: &str, has_dead_letter_queue| Queue {
        id: id.to_owned(),
        name: format!("longshore-{id}"),
        has_dead_letter_queue,
        ..Queue::default()
    };
    let dead_letters = ["CreateJobDeadLetters", "ChunkDeadLetters", "WebhookDeadLetters"];
    let consumed = CONSUMERS.iter().map(|(id, _)| queue(id, true));
    consumed.chain(dead_letters.map(|id| queue(id, false))).collect()
}

fn function((id, name): (&str, &str)) -> Function {
    Function {
        id: id.to_owned(),
        name: name.to_owned(),
        state: "Active".to_owned(),
        update: "Successful".to_owned(),
        ..Function::default()
    }
}

fn mapping((queue, function): (&str, &str)) -> Mapping {
    Mapping {
        uuid: format!("u-{queue}"),
        function: function.to_owned(),
        queue: format!("longshore-{queue}"),
        state: "Enabled".to_owned(),
        concurrency: Some(35),
    }
}

/// Returns the template of the repository.
pub(super) fn template() -> Template {
    Template::parse(include_str!("../../../../../template.yaml")).unwrap()
}

/// Returns the codes of what was found.
pub(in crate::operators::doctor) fn codes(found: &[Finding]) -> Vec<&str> {
    found.iter().filter_map(|finding| finding.code.as_deref()).collect()
}

#[test]
fn nothing_is_found_in_a_healthy_stack_or_without_observations() {
    assert_eq!(codes(&diagnose(&healthy())), [""; 0]);
    let mut nothing = Facts::default();
    nothing.stack.status = "CREATE_COMPLETE".to_owned();
    assert_eq!(codes(&diagnose(&nothing)), [""; 0]);
}

#[test]
fn errors_come_before_warnings() {
    let mut facts = healthy();
    facts.stack.parameters.insert("AlarmTopicArn".to_owned(), String::new());
    facts.cors = Some(Vec::new());
    assert_eq!(codes(&diagnose(&facts)), ["cors_missing", "no_alarm_topic"]);
}

#[test]
fn every_finding_has_a_section_of_the_runbook() {
    let mut facts = healthy();
    facts.cors = Some(Vec::new());
    facts.queues.iter_mut().for_each(|queue| queue.oldest_seconds = Some(1_000_000));
    let found = diagnose(&facts);
    assert_eq!(found.len(), CONSUMERS.len() + 1, "{found:?}");
    let missing: Vec<_> = found.iter().filter(|finding| finding.document.is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
