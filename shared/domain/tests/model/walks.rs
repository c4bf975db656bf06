//! Random walks through configurations that are too large for an exhaustive check.
//!
//! The walks are seeded, so each run has the same ones. Each draws a file, a configuration and many faults of all
//! kinds, and walks to the end. The invariants are checked in each of its states.

use measurements::{is_complete_run, row};
use stateright::Model;

use crate::checked::{describe, without_removed};
use crate::item::Nature::{self, *};
use crate::properties::INVARIANTS;
use crate::protocol::Protocol;
use crate::record::Bounds;
use crate::step::Action;
use crate::world::World;

/// Number of walks in a plain test run, and in a full one.
const WALKS: [u64; 2] = [1_000, 20_000];

/// Number of steps after which a walk counts as endless. The longest walks take some hundreds.
const MAX_STEPS: usize = 10_000;

/// The choices of a walk.
struct Rng(fastrand::Rng);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    fn up_to(&mut self, limit: usize) -> u8 {
        self.below(limit + 1) as u8
    }

    fn many<T>(&mut self, limit: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..=self.below(limit)).map(|_| one(self)).collect()
    }
}

fn nature(rng: &mut Rng) -> Nature {
    [Good, Bad, Correction, Unwanted, Busy(1), Busy(2), Fickle][rng.below(7)]
}

/// Draws a configuration: up to three groups of three chunks of four items, and up to three faults of each kind.
fn configuration(rng: &mut Rng) -> Protocol {
    let file = rng.many(3, |rng| rng.many(3, |rng| rng.many(4, nature)));
    let mut few = || rng.up_to(3);
    let bounds = Bounds {
        crashes: few(),
        losses: few(),
        dead_letters: few(),
        duplicates: few(),
        lost_replies: few(),
        deadlines: few(),
        stops: few(),
        retries: few(),
        replays: few(),
        selections: few(),
        reads: few(),
        pauses: 0,
    };
    let runs = [1 + rng.below(2), 1 + rng.below(4), 1 + rng.below(2)];
    let checkpoint = 1 + rng.below(4);
    let (outputs, walk) = (rng.below(2) == 0, rng.below(3) == 0);
    let bounds = Bounds { pauses: rng.up_to(3), ..bounds };
    Protocol { bounds, walk, outputs, runs, checkpoint, sweeper: true, ..Protocol::new(file) }
}

/// Chooses one of the possible actions, a fault less often than a regular step.
fn choose(rng: &mut Rng, actions: &[Action]) -> Action {
    let is_regular = |action: &Action| matches!(action, Action::Take { .. } | Action::Next { .. });
    let (steps, others): (Vec<_>, Vec<_>) = actions.iter().copied().partition(is_regular);
    let candidates = if others.is_empty() || (!steps.is_empty() && rng.below(8) > 0) { steps } else { others };
    candidates[rng.below(candidates.len())]
}

/// Walks to the end. Returns the number of steps, or the violated property with the path to it.
fn walk(protocol: &Protocol, rng: &mut Rng) -> Result<usize, String> {
    let mut world = protocol.init_states().remove(0);
    let mut path: Vec<(World, Option<Action>)> = Vec::new();
    for steps in 0..MAX_STEPS {
        let violated = INVARIANTS.iter().find(|(_, holds)| !holds(protocol, &world));
        if let Some((name, _)) = violated {
            path.push((world, None));
            return Err(format!("{name}:\n{}", describe(&path)));
        }
        let mut actions = Vec::new();
        protocol.actions(&world, &mut actions);
        if actions.is_empty() {
            return Ok(steps);
        }
        let action = choose(rng, &actions);
        let next = protocol.next_state(&world, action).ok_or("an action leads nowhere")?;
        path.push((std::mem::replace(&mut world, next), Some(action)));
    }
    Err("the walk never ends".into())
}

#[test]
fn long_walks_with_many_faults_violate_no_invariant() {
    let walks = WALKS[usize::from(is_complete_run())];
    let (mut steps, mut longest, mut violations) = (0, 0, Vec::new());
    for seed in 0..walks {
        let mut rng = Rng(fastrand::Rng::with_seed(seed));
        let protocol = without_removed(configuration(&mut rng));
        match walk(&protocol, &mut rng) {
            Ok(length) => (steps, longest) = (steps + length, longest.max(length)),
            Err(story) => violations.push(format!("walk {seed} over {:?}, {story}", protocol.file)),
        }
    }
    println!("{walks} walks, {steps} steps, the longest {longest}");
    let configuration = "up to 4 groups, 64 items, 4 workers, 3 faults of each kind";
    let (name, count) = (("configuration", &configuration as _), violations.len());
    row("model-walks", &[name, ("walks", &walks), ("steps", &steps), ("violations", &count)]);
    assert!(violations.is_empty(), "{count} of {walks} walks violate an invariant; the first: {}", violations[0]);
}
