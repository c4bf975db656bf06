//! Visibility timeouts: for each allowed timeout, a message is hidden for longer than its function can run.

use deployment::template::{Parameters, Template, plain};
use serde_json::Value;

use super::{TEMPLATE, values};

/// Minimum margin over a function's timeout, in seconds: see `FRESH_MS` and `SPARE_S` of the batches.
const MARGIN_S: i64 = 10;

/// Queues of the workers.
const QUEUES: [&str; 5] = ["CreateJobQueue", "CompleteJobQueue", "HighChunkQueue", "ChunkQueue", "LowChunkQueue"];

fn seconds(template: &Template, value: &Value, values: &Parameters) -> Option<i64> {
    plain(&template.resolve(value, values)).and_then(|seconds| seconds.parse().ok())
}

/// Returns the visibility timeouts of the queues, and the stall time, for this timeout of the workers.
fn times(template: &Template, timeout: &str) -> (Vec<Option<i64>>, Option<i64>) {
    let values = values(&[("WorkerTimeoutSeconds", timeout)]);
    let visibility = |queue| seconds(template, &template.properties(queue).unwrap()["VisibilityTimeout"], &values);
    let variables = &template.properties("Sweep").unwrap()["Environment"]["Variables"];
    (QUEUES.map(visibility).to_vec(), seconds(template, &variables["LONGSHORE_STALL_SECONDS"], &values))
}

/// Lists the timeouts of a template that do not leave the margin.
fn violations(template: &str) -> Vec<String> {
    let template = Template::parse(template).unwrap();
    let (_, parameter) = template.section("Parameters").find(|(name, _)| *name == "WorkerTimeoutSeconds").unwrap();
    let mut violations = Vec::new();
    for timeout in parameter["AllowedValues"].as_array().unwrap() {
        let timeout = plain(timeout).unwrap();
        let (visibilities, stall) = times(&template, &timeout);
        let min = timeout.parse::<i64>().unwrap() + MARGIN_S;
        for (queue, visibility) in QUEUES.into_iter().zip(&visibilities) {
            if visibility.is_none_or(|visibility| visibility < min) {
                violations.push(format!("timeout {timeout}: {queue} has a visibility timeout of {visibility:?}"));
            }
        }
        let longest = visibilities.into_iter().flatten().max().unwrap_or_default();
        if stall.is_none_or(|stall| stall < longest + MARGIN_S) {
            violations.push(format!("timeout {timeout}: a stall time of {stall:?}"));
        }
    }
    violations
}

#[test]
fn every_allowed_timeout_has_a_visibility_timeout_and_a_stall_time_with_a_margin() {
    assert_eq!(violations(TEMPLATE), [""; 0]);
}

#[test]
fn the_default_timeout_has_a_visibility_timeout_of_150_seconds_and_a_stall_time_of_165() {
    let template = Template::parse(TEMPLATE).unwrap();
    let timeout = template.parameter("WorkerTimeoutSeconds", &Parameters::new()).unwrap();
    assert_eq!(times(&template, &timeout), (vec![Some(150); 5], Some(165)));
}

#[test]
fn a_timeout_that_lets_two_workers_run_one_message_is_found() {
    for (old, new, violation) in [
        (
            "'120': { Visibility: 150,",
            "'120': { Visibility: 125,",
            "timeout 120: ChunkQueue has a visibility timeout of Some(125)",
        ),
        ("Visibility: 960, Stall: '1000'", "Visibility: 960, Stall: '960'", "timeout 900: a stall time of Some(960)"),
        (
            "    '300': { Visibility",
            "    '301': { Visibility",
            "timeout 300: LowChunkQueue has a visibility timeout of None",
        ),
    ] {
        assert!(TEMPLATE.contains(old), "{old}");
        let violations = violations(&TEMPLATE.replace(old, new));
        assert!(violations.iter().any(|found| found == violation), "{violation}: {violations:?}");
    }
}
