//! Termination: every run of the system is finite and ends in a final status.
//!
//! The checker cannot express that no state recurs, so a separate depth-first walk checks it. Without a cycle every run
//! is finite; the properties "an idle job has a final status" and "no sweep is unnecessary" state where it ends.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::Model;

use crate::checked::without_layer;
use crate::item::Nature::*;
use crate::properties::pauses;
use crate::protocol::Protocol;
use crate::record::Bounds;
use crate::world::World;

/// Position of a state in the walk: on the current path, or completely explored.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Walk {
    OnPath,
    Explored,
}

fn fingerprint(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

/// Walks every path to its end, and returns the number of states. Panics if a state recurs on a path, or is the last of
/// a path without a final status.
fn walk(protocol: &Protocol) -> usize {
    let mut walked: HashMap<u64, Walk> = HashMap::new();
    let mut path: Vec<(u64, Vec<World>)> = Vec::new();
    let mut next = protocol.init_states();
    loop {
        while let Some(world) = next.pop() {
            let id = fingerprint(&world);
            match walked.get(&id) {
                Some(Walk::OnPath) => panic!("a state recurs: {world:?}"),
                Some(Walk::Explored) => continue,
                None => {}
            }
            walked.insert(id, Walk::OnPath);
            let after = protocol.next_states(&world);
            let waits = !protocol.sweeper && (world.record.losses > 0 || pauses(protocol, &world) > 0);
            assert!(
                !after.is_empty() || world.job.status.is_final() || waits,
                "idle without a final status: {world:?}"
            );
            path.push((id, std::mem::replace(&mut next, after)));
        }
        let Some((id, siblings)) = path.pop() else { return walked.len() };
        walked.insert(id, Walk::Explored);
        next = siblings;
    }
}

#[test]
fn no_state_recurs_and_every_run_ends_in_a_final_status() {
    let file = vec![vec![vec![Good, Busy(1)]], vec![vec![Bad]]];
    let crashes = Bounds { stops: 1, crashes: 1, lost_replies: 1, ..Bounds::default() };
    let losses = Bounds { stops: 1, losses: 1, duplicates: 1, ..Bounds::default() };
    ends("ends, crashes", Protocol { bounds: crashes, ..Protocol::new(file.clone()) });
    ends("ends, losses", Protocol { bounds: losses, sweeper: true, ..Protocol::new(file) });
}

#[test]
fn no_state_recurs_with_a_retry_or_a_dead_letter() {
    let retries = Bounds { retries: 1, crashes: 1, deadlines: 1, ..Bounds::default() };
    let dead_letters = Bounds { dead_letters: 1, replays: 1, crashes: 1, ..Bounds::default() };
    let file = vec![vec![vec![Busy(1), Correction]], vec![vec![Good]]];
    ends("ends, retry", Protocol { bounds: retries, runs: [1, 1, 1], ..Protocol::new(file) });
    let file = vec![vec![vec![Busy(1), Correction]]];
    ends("ends, replay", Protocol { bounds: dead_letters, sweeper: true, ..Protocol::new(file) });
}

/// A pause ends by itself: the last state of no path is one of a pause.
#[test]
fn no_state_recurs_with_a_pause() {
    let bounds = Bounds { pauses: 2, losses: 1, stops: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good]]];
    ends("ends, pauses", Protocol { bounds, sweeper: true, runs: [1, 1, 1], ..Protocol::new(file) });
}

/// Checks termination. No condition is removed here, because the walk may not end without one.
fn ends(name: &str, protocol: Protocol) {
    let states = walk(&without_layer(protocol));
    println!("{name}: {states} states, none twice on a path");
}
