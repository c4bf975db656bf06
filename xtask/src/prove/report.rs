//! The document of `prove`.

use std::collections::BTreeMap;

use super::metrics::Table;
use super::part::Outcome;
use bench::markdown::table;

/// Titles of the tables.
const TITLES: [(&str, &str); 17] = [
    ("model", "Model: every interleaving of small configurations"),
    ("model-walks", "Model: random walks through larger configurations"),
    ("model-broken", "Model: what is caught when it is broken"),
    ("model-layers", "Model: redundant layers taken out"),
    ("simulation", "Simulation of the real functions"),
    ("simulation-runs", "Simulation: kinds of runs"),
    ("simulation-faults", "Simulation: faults injected"),
    ("simulation-broken", "Simulation: conditions taken out, each caught"),
    ("simulation-layers", "Simulation: redundant layers taken out"),
    ("completion", "Completion of large jobs over in-memory services"),
    ("second-engine", "Conformance suite on the second engine of DynamoDB"),
    ("faults", "Faults of calls, on the deployed stack"),
    ("faults-other", "Functions, emulator, queues and schedule that fail"),
    ("corpus", "Nasty files through the deployed stack"),
    ("load", "Load"),
    ("load-canceled", "A large file, canceled after its first chunk, on the deployed stack"),
    ("release", "A release by cargo lambda: a row that panics"),
];

/// Writes the whole document.
pub(super) fn write(
    machine: &[(&'static str, String)],
    outcomes: &[Outcome],
    tables: &BTreeMap<String, Table>,
) -> String {
    let mut text = String::from(
        "# Results of `cargo xtask prove`\n\nHow they were made, and how to make them again: [README.md](README.md).\n\n",
    );
    table(
        &mut text,
        "",
        &["", ""],
        machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect(),
    );
    table(&mut text, "Parts", &["part", "", "seconds"], outcomes.iter().map(part).collect());
    let named = TITLES.iter().filter_map(|(name, title)| Some((*title, tables.get(*name)?)));
    let others = tables.iter().filter(|(name, _)| TITLES.iter().all(|(known, _)| known != name));
    for (title, metrics) in named.chain(others.map(|(name, metrics)| (name.as_str(), metrics))) {
        let columns: Vec<&str> = metrics.columns.iter().map(String::as_str).collect();
        table(&mut text, title, &columns, metrics.rows.clone());
    }
    text
}

fn part(outcome: &Outcome) -> Vec<String> {
    let verdict = if outcome.passed { "passed" } else { "FAILED" };
    vec![outcome.part.name().to_owned(), verdict.to_owned(), format!("{:.0}", outcome.took.as_secs_f32())]
}
