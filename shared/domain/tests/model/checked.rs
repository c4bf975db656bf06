//! One check of one configuration: every state that it can reach, what was found, and the figures.
//!
//! Where a condition or a layer is taken out (`cargo xtask prove --without`), every configuration runs without it: to show
//! that the checks bite, or that what is taken out is redundant.

use measurements::{is_whole, row};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::flaw::Flaw;
use crate::protocol::Protocol;
use crate::story;

/// What a check has found.
pub(crate) struct Checked {
    /// Different states.
    pub(crate) states: usize,
    /// Steps to the furthest of them.
    pub(crate) depth: usize,
    /// What did not hold, and how it came to that.
    pub(crate) violations: Vec<String>,
    /// What should have been seen, and was not.
    pub(crate) unseen: Vec<&'static str>,
}

/// Visits every state, until something does not hold.
pub(crate) fn check(protocol: Protocol) -> Checked {
    let checker = protocol.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (found, properties) = (checker.discoveries(), checker.model().properties());
    let (mut violations, mut unseen) = (Vec::new(), Vec::new());
    for property in properties {
        match (property.expectation, found.get(property.name)) {
            (Expectation::Always, Some(path)) => {
                violations.push(format!("{}:\n{}", property.name, story::tell(&path.clone().into_vec())));
            }
            (Expectation::Sometimes, None) => unseen.push(property.name),
            _ => {}
        }
    }
    Checked { states: checker.unique_state_count(), depth: checker.max_depth(), violations, unseen }
}

/// Everything holds in every state, and what must be seen is.
pub(crate) fn holds(name: &str, protocol: Protocol) {
    let begun = std::time::Instant::now();
    let Checked { states, depth, violations, unseen } = check(asked_for(protocol));
    println!("{name}: {states} states, {depth} steps deep, {:.1?}", begun.elapsed());
    let broken = violations.len();
    row("model", &[("configuration", &name), ("states", &states), ("depth", &depth), ("violations", &broken)]);
    assert!(violations.is_empty(), "{name}: {}", violations.join("\n"));
    assert!(unseen.is_empty(), "{name} shows nothing, for it never shows {unseen:?}");
}

/// As [`holds`], for a configuration that a plain test run has no time for.
pub(crate) fn holds_at_large(name: &str, protocol: Protocol) {
    if is_whole() {
        holds(name, protocol);
    }
}

/// The configuration without the condition or the layer that `cargo xtask prove --without` takes out.
pub(crate) fn asked_for(protocol: Protocol) -> Protocol {
    let flaw = measurements::without().and_then(|condition| Flaw::without(&condition));
    without_layer(Protocol { flaw: flaw.unwrap_or(protocol.flaw), ..protocol })
}

/// The configuration without the layer that is taken out, if it is a layer. What is to be seen of the sweeper is not, then.
pub(crate) fn without_layer(protocol: Protocol) -> Protocol {
    match measurements::without().as_deref() {
        Some("sweeper") if protocol.sweeper => Protocol { sweeper: false, sights: &[], ..protocol },
        Some("deduplication") => Protocol { deduplication: false, ..protocol },
        _ => protocol,
    }
}
