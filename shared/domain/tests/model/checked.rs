//! Check of one configuration: every reachable state, the violations, and the measurements.
//!
//! With a condition or a layer removed (`cargo xtask prove --without`), every configuration runs without it. This shows
//! that the checks detect the removal of a condition, or that a layer is redundant.

use measurements::{is_whole, row};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::flaw::Flaw;
use crate::protocol::Protocol;
use crate::story;

/// The result of a check.
pub(crate) struct Checked {
    /// Number of different states.
    pub(crate) states: usize,
    /// Number of steps to the furthest state.
    pub(crate) depth: usize,
    /// Violated properties, each with the path to the violation.
    pub(crate) violations: Vec<String>,
    /// Expected sights that were not reached.
    pub(crate) unseen: Vec<&'static str>,
}

/// Visits every state, until a property is violated.
pub(crate) fn check(protocol: Protocol) -> Checked {
    let checker = protocol.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (found, properties) = (checker.discoveries(), checker.model().properties());
    let (mut violations, mut unseen) = (Vec::new(), Vec::new());
    for property in properties {
        match (property.expectation, found.get(property.name)) {
            (Expectation::Always, Some(path)) => {
                violations.push(format!("{}:\n{}", property.name, story::describe(&path.clone().into_vec())));
            }
            (Expectation::Sometimes, None) => unseen.push(property.name),
            _ => {}
        }
    }
    Checked { states: checker.unique_state_count(), depth: checker.max_depth(), violations, unseen }
}

/// Asserts that everything holds in every state, and that every expected sight is reached.
pub(crate) fn holds(name: &str, protocol: Protocol) {
    let begun = std::time::Instant::now();
    let Checked { states, depth, violations, unseen } = check(asked_for(protocol));
    println!("{name}: {states} states, {depth} steps deep, {:.1?}", begun.elapsed());
    let broken = violations.len();
    row("model", &[("configuration", &name), ("states", &states), ("depth", &depth), ("violations", &broken)]);
    assert!(violations.is_empty(), "{name}: {}", violations.join("\n"));
    assert!(unseen.is_empty(), "{name} shows nothing, for it never shows {unseen:?}");
}

/// Asserts the same as [`holds`], for a configuration that is too large for a plain test run.
pub(crate) fn holds_at_large(name: &str, protocol: Protocol) {
    if is_whole() {
        holds(name, protocol);
    }
}

/// Returns the configuration without the condition or layer that `cargo xtask prove --without` removes.
pub(crate) fn asked_for(protocol: Protocol) -> Protocol {
    let flaw = measurements::without().and_then(|condition| Flaw::without(&condition));
    without_layer(Protocol { flaw: flaw.unwrap_or(protocol.flaw), ..protocol })
}

/// Returns the configuration without the removed layer, if it is a layer. Expected sights of the sweeper are removed
/// with it.
pub(crate) fn without_layer(protocol: Protocol) -> Protocol {
    match measurements::without().as_deref() {
        Some("sweeper") if protocol.sweeper => Protocol { sweeper: false, sights: &[], ..protocol },
        Some("deduplication") => Protocol { deduplication: false, ..protocol },
        _ => protocol,
    }
}
