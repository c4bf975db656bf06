//! Properties of template.yaml whose violation would only be noticed on AWS.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod alarms;
mod aws_metrics;
mod check;
mod dashboards;
mod functions;
mod indexes;
mod metrics;
mod parameters;
mod permissions;
mod port_calls;
mod reach;
mod refused;
mod runbook;
mod tracing;
mod updates;
mod visibility;

use deployment::template::{Parameters, Template};

const TEMPLATE: &str = include_str!("../../../../template.yaml");

/// Returns parameter values from pairs of name and value.
fn values(pairs: &[(&str, &str)]) -> Parameters {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn template() -> Template {
    Template::parse(TEMPLATE).unwrap()
}
