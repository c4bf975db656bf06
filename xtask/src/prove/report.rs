//! The document with the results of `prove`.

use std::collections::BTreeMap;

use super::metrics::Table;
use super::part::Outcome;
use bench::markdown::table;

/// Titles of the tables.
const TITLES: [(&str, &str); 22] = [
    ("model", "Model: every interleaving of small configurations"),
    ("model-walks", "Model: random walks through larger configurations"),
    ("model-broken", "Model: conditions removed, each violation found"),
    ("model-layers", "Model: redundant layers removed"),
    ("simulation", "Simulation of the real functions"),
    ("simulation-runs", "Simulation: kinds of runs"),
    ("simulation-faults", "Simulation: faults injected"),
    ("simulation-broken", "Simulation: conditions removed, each violation found"),
    ("simulation-layers", "Simulation: redundant layers removed"),
    ("rate", "Simulation: rate limits of remote handlers, per cent of the limit in ten seconds"),
    ("completion", "Completion of large jobs over in-memory services"),
    ("second-engine", "Conformance suite on the second engine of DynamoDB"),
    ("faults", "Failing calls, on the deployed stack"),
    ("faults-other", "Failing functions, emulator, queues and schedule"),
    ("faults-deliveries", "Events to a receiver that fails and restarts, while functions are killed"),
    ("corpus", "Malformed and unusual files, on the deployed stack"),
    ("load", "Load"),
    ("load-canceled", "A large file, canceled after its first chunk, on the deployed stack"),
    ("versions", "Functions of the previous release beside those of this one, swapped under load"),
    ("game-day", "Game day: faults planted in a running stack, found and fixed as the runbook says"),
    ("release", "A release built with cargo lambda: a row that panics"),
    ("release-package", "A package of this release, deployed"),
];

/// Returns the document.
pub(super) fn write(
    machine: &[(&'static str, String)],
    outcomes: &[Outcome],
    tables: &BTreeMap<String, Table>,
) -> String {
    let mut text = String::from(
        "# Results of `cargo xtask prove`\n\n[README.md](README.md) describes the parts and how to run them.\n\n",
    );
    table(
        &mut text,
        "",
        &["", ""],
        machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect(),
    );
    table(&mut text, "Parts", &["part", "", "seconds", "commit"], outcomes.iter().map(part).collect());
    let titled = TITLES.iter().filter_map(|(name, title)| Some((*title, tables.get(*name)?)));
    let others = tables.iter().filter(|(name, _)| TITLES.iter().all(|(known, _)| known != name));
    for (title, metrics) in titled.chain(others.map(|(name, metrics)| (name.as_str(), metrics))) {
        let columns: Vec<&str> = metrics.columns.iter().map(String::as_str).collect();
        table(&mut text, title, &columns, metrics.rows.clone());
    }
    text
}

fn part(outcome: &Outcome) -> Vec<String> {
    let result = if outcome.passed { "passed" } else { "FAILED" };
    let seconds = format!("{:.0}", outcome.duration.as_secs_f32());
    vec![outcome.part.name().to_owned(), result.to_owned(), seconds, outcome.commit.clone()]
}
