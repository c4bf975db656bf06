//! Visibility timeouts: a message is hidden for longer than its function runs, for all allowed parameters.

use deployment::template::{Parameters, Template, plain};
use serde_json::Value;

use super::TEMPLATE;

/// Minimum margin over a function's timeout, in seconds: see `FRESH_MS` and `SPARE_S` of the batches.
const SPARE_S: i64 = 10;

fn numbers(template: &Template, parameter: &str) -> Vec<i64> {
    let (_, parameter) = template.section("Parameters").find(|(name, _)| *name == parameter).unwrap();
    parameter["AllowedValues"].as_array().unwrap().iter().map(|value| plain(value).unwrap().parse().unwrap()).collect()
}

/// Returns true if a rule refuses this visibility timeout for this function timeout.
fn is_refused(template: &Template, timeout: i64, visibility: i64) -> bool {
    let rule = template.section("Rules").find(|(name, _)| *name == format!("VisibilityFor{timeout}SecondTimeout"));
    let Some((_, rule)) = rule else { return false };
    let allowed = rule["Assertions"][0]["Assert"]["Fn::Contains"][0].as_array().unwrap();
    !allowed.contains(&Value::String(visibility.to_string()))
}

/// Lists the timeouts of a template that violate the margin.
fn faults(template: &str) -> Vec<String> {
    let template = Template::parse(template).unwrap();
    let mut faults = Vec::new();
    for visibility in numbers(&template, "WorkerVisibilitySeconds") {
        let given = Parameters::from([("WorkerVisibilitySeconds".to_owned(), visibility.to_string())]);
        let stall =
            template.properties("Sweep").unwrap()["Environment"]["Variables"]["LONGSHORE_STALL_SECONDS"].clone();
        let stall = plain(&template.resolve(&stall, &given)).and_then(|seconds| seconds.parse::<i64>().ok());
        if stall.is_none_or(|stall| stall < visibility + SPARE_S) {
            faults.push(format!("visibility {visibility}: a stall time of {stall:?}"));
        }
        for timeout in numbers(&template, "WorkerTimeoutSeconds") {
            if visibility < timeout + SPARE_S && !is_refused(&template, timeout, visibility) {
                faults.push(format!("visibility {visibility}: too short for a time-out of {timeout}"));
            }
        }
    }
    faults
}

#[test]
fn every_pair_of_timeout_and_visibility_that_is_allowed_leaves_time_to_spare() {
    assert_eq!(faults(TEMPLATE), [""; 0]);
    let template = Template::parse(TEMPLATE).unwrap();
    let of = |name| template.parameter(name, &Parameters::new()).unwrap().parse::<i64>().unwrap();
    assert!(!is_refused(&template, of("WorkerTimeoutSeconds"), of("WorkerVisibilitySeconds")));
}

#[test]
fn a_pair_that_makes_two_workers_of_one_message_is_found() {
    for (from, to, fault) in [
        (
            "[['150', '360', '720', '960'",
            "[['90', '150', '360', '720', '960'",
            "visibility 90: too short for a time-out of 120",
        ),
        ("'960': { Seconds: '1000' }", "'960': { Seconds: '960' }", "visibility 960: a stall time of Some(960)"),
    ] {
        assert!(TEMPLATE.contains(from), "{from}");
        let found = faults(&TEMPLATE.replace(from, to));
        assert!(found.iter().any(|found| found == fault), "{fault}: {found:?}");
    }
}
