use std::collections::BTreeMap;

use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::{Metric, Metrics, Values, write};

fn values(recorded: &[u64]) -> Values {
    let mut values = Values::default();
    for value in recorded {
        values.record(*value);
    }
    values
}

fn lines(metrics: &Metrics) -> Vec<Value> {
    let mut output = Vec::new();
    write(&mut output, metrics, "shop", Timestamp(1_700_000_000_123)).unwrap();
    String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn owned(dimensions: &[&str]) -> Vec<String> {
    dimensions.iter().map(|value| (*value).to_owned()).collect()
}

/// Each set of values of dimensions has a line of its own, as in the specification.
#[test]
fn a_line_has_the_metrics_with_the_same_dimensions() {
    let count = |number| {
        let mut values = Values::default();
        values.add(number);
        values
    };
    let metrics = BTreeMap::from([
        ((Metric::ItemsSucceeded, owned(&["people"])), count(7)),
        ((Metric::ItemsFailed, owned(&["people"])), count(2)),
        ((Metric::CommitConflicts, vec![]), count(1)),
    ]);
    let mut lines = lines(&metrics);
    lines.sort_by_key(|line| line["CommitConflicts"].is_null());
    assert_eq!(
        lines,
        [
            json!({
                "_aws": {
                    "Timestamp": 1_700_000_000_123_u64,
                    "CloudWatchMetrics": [{
                        "Namespace": "Longshore",
                        "Dimensions": [["Stack"]],
                        "Metrics": [{ "Name": "CommitConflicts", "Unit": "Count" }],
                    }],
                },
                "Stack": "shop",
                "CommitConflicts": 1,
            }),
            json!({
                "_aws": {
                    "Timestamp": 1_700_000_000_123_u64,
                    "CloudWatchMetrics": [{
                        "Namespace": "Longshore",
                        "Dimensions": [["Stack", "JobType"]],
                        "Metrics": [
                            { "Name": "ItemsSucceeded", "Unit": "Count" },
                            { "Name": "ItemsFailed", "Unit": "Count" },
                        ],
                    }],
                },
                "Stack": "shop",
                "JobType": "people",
                "ItemsSucceeded": 7,
                "ItemsFailed": 2,
            }),
        ]
    );
}

#[test]
fn times_are_a_distribution_with_two_digits() {
    let metrics = BTreeMap::from([((Metric::CompletionDuration, vec![]), values(&[1234, 1290, 56, 7, 7]))]);
    let lines = lines(&metrics);
    assert_eq!(lines[0]["CompletionDuration"], json!({ "Values": [7, 56, 1200], "Counts": [2, 1, 2] }));
    assert_eq!(lines[0]["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Unit"], "Milliseconds");
}

/// CloudWatch takes at most 100 values of a metric in a line.
#[test]
fn the_times_of_an_invocation_fit_in_a_line() {
    let metrics =
        BTreeMap::from([((Metric::HandlerDuration, owned(&["invite"])), values(&(1..=100_000).collect::<Vec<_>>()))]);
    let counts = &lines(&metrics)[0]["HandlerDuration"]["Counts"];
    assert!(counts.as_array().unwrap().len() <= 100);
    let sum: u64 = counts.as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(sum, 100_000);
}

#[test]
fn an_invocation_without_metrics_writes_no_line() {
    assert_eq!(lines(&Metrics::new()), Vec::<Value>::new());
}

#[test]
fn names_are_unique_and_no_dimension_is_a_job_or_a_tenant() {
    let names: std::collections::BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    assert_eq!(names.len(), Metric::ALL.len());
    for metric in Metric::ALL {
        for dimension in metric.dimensions() {
            assert!(["JobType", "Status", "Code", "Queue", "Result", "Action"].contains(dimension), "{dimension}");
        }
    }
}
