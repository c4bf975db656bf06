//! Detection of a flaw: the shortest path to the violation, as a readable story kept in `counterexamples/`.

use std::collections::BTreeSet;

use measurements::row;
use stateright::{Checker, HasDiscoveries, Model};

use crate::protocol::Protocol;
use crate::story;

/// Steps after which a flaw counts as missed; each of these configurations ends sooner.
const DEEPEST: usize = 60;

/// Finds the shortest path that violates this property, and compares it with the kept one; panics if there is none.
/// `LONGSHORE_UPDATE=1` keeps the new one.
///
/// The checker keeps the last discovery of a block, not the first. So it may go one step deeper at a time.
pub(crate) fn caught(file: &str, property: &'static str, protocol: Protocol) {
    for depth in 1..=DEEPEST {
        let wanted = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        let checker = protocol.clone().checker().target_max_depth(depth).finish_when(wanted).spawn_bfs().join();
        if let Some(path) = checker.discovery(property) {
            let steps = path.clone().into_actions().len();
            let flaw = format!("{:?}", protocol.flaw);
            println!("{flaw}: caught in {} states, {steps} steps", checker.unique_state_count());
            row("model-broken", &[("flaw", &flaw), ("caught by", &property), ("steps", &steps), ("file", &file)]);
            return kept(file, &format!("Broken: {property}.\n\n{}", story::describe(&path.into_vec())));
        }
    }
    panic!("{:?}: not caught in {DEEPEST} steps", protocol.flaw);
}

/// Compares the counterexample of this name with the kept one.
fn kept(name: &str, story: &str) {
    let file = format!("{}/tests/model/counterexamples/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("LONGSHORE_UPDATE").is_some() {
        assert!(std::fs::write(&file, story).is_ok(), "{file} cannot be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(story, kept, "{file} is another; LONGSHORE_UPDATE=1 keeps this one");
}
