//! Checks of small models: every state, the sights, and the shortest path to a violation for each flaw.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use measurements::row;
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::checked::{MAX_DEPTH, compare};

/// A model whose actions can be described.
pub(crate) trait Small:
    Model<State: Clone + Debug + PartialEq + Hash + Send + Sync, Action: PartialEq + Debug + Clone + Send + Sync>
    + Clone
    + Send
    + Sync
    + 'static
{
    /// Describes an action in a state as a sentence.
    fn sentence(&self, state: &Self::State, action: &Self::Action) -> String;
}

/// Asserts that every property holds in every state, and that every sight is reached.
pub(crate) fn holds_everywhere(name: &str, model: impl Small) {
    let start = std::time::Instant::now();
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (discoveries, states) = (checker.discoveries(), checker.unique_state_count());
    println!("{name}: {states} states, {} steps deep, {:.1?}", checker.max_depth(), start.elapsed());
    for property in checker.model().properties() {
        match (property.expectation, discoveries.get(property.name)) {
            (Expectation::Always, Some(path)) => {
                panic!("{name}: {}:\n{}", property.name, story(checker.model(), &path.clone().into_vec()));
            }
            (Expectation::Sometimes, None) => {
                panic!("{name} proves nothing, because it never reaches {}", property.name)
            }
            _ => {}
        }
    }
    row("model", &[("configuration", &name), ("states", &states), ("depth", &checker.max_depth()), ("violations", &0)]);
}

/// Finds the shortest path that violates this property, and compares it with the stored counterexample. Panics if there
/// is no such path.
pub(crate) fn is_caught(file: &str, property: &'static str, flaw: &dyn Debug, model: &impl Small) {
    for depth in 1..=MAX_DEPTH {
        let violated = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        let checker = model.clone().checker().target_max_depth(depth).finish_when(violated).spawn_bfs().join();
        if let Some(path) = checker.discovery(property) {
            let (path, flaw) = (path.into_vec(), format!("{flaw:?}"));
            let steps = path.len() - 1;
            println!("{flaw}: caught in {} states, {steps} steps", checker.unique_state_count());
            row("model-broken", &[("flaw", &flaw), ("caught by", &property), ("steps", &steps), ("file", &file)]);
            return compare(file, &format!("Broken: {property}.\n\n{}", story(model, &path)));
        }
    }
    panic!("{flaw:?}: not caught in {MAX_DEPTH} steps");
}

/// Writes one line per step.
fn story<M: Small>(model: &M, path: &[(M::State, Option<M::Action>)]) -> String {
    let sentences = path.iter().filter_map(|(state, action)| Some(model.sentence(state, action.as_ref()?)));
    (1..).zip(sentences).map(|(n, sentence)| format!("{n:2}. {sentence}\n")).collect()
}
