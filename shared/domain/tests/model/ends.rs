//! Termination: every run of the system is finite and ends in a final status.
//!
//! The checker cannot express that no state recurs, so a separate depth-first walk checks it. Without a cycle every run
//! is finite; the properties "what comes to rest is final" and "no sweep is in vain" state where it ends.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::Model;

use crate::checked::without_layer;
use crate::item::Nature::*;
use crate::protocol::Protocol;
use crate::record::Bounds;
use crate::world::World;

/// Position of a state in the walk: on the current path, or left for good.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Walk {
    OnPath,
    Left,
}

fn name(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

/// Walks every path to its end, and returns the number of states; panics if one recurs or rests without an end.
fn walk(protocol: &Protocol) -> usize {
    let mut walked: HashMap<u64, Walk> = HashMap::new();
    let mut path: Vec<(u64, Vec<World>)> = Vec::new();
    let mut next = protocol.init_states();
    loop {
        while let Some(world) = next.pop() {
            let id = name(&world);
            match walked.get(&id) {
                Some(Walk::OnPath) => panic!("a state comes back: {world:?}"),
                Some(Walk::Left) => continue,
                None => {}
            }
            walked.insert(id, Walk::OnPath);
            let after = protocol.next_states(&world);
            let waits = !protocol.sweeper && world.record.losses > 0;
            assert!(!after.is_empty() || world.job.status.is_final() || waits, "rests without an end: {world:?}");
            path.push((id, std::mem::replace(&mut next, after)));
        }
        let Some((id, rest)) = path.pop() else { return walked.len() };
        walked.insert(id, Walk::Left);
        next = rest;
    }
}

#[test]
fn no_state_comes_back_and_every_run_ends_at_a_final_status() {
    let file = vec![vec![vec![Good, Busy(1)]], vec![vec![Bad]]];
    let crashes = Bounds { stops: 1, crashes: 1, lost_replies: 1, ..Bounds::default() };
    let losses = Bounds { stops: 1, losses: 1, duplicates: 1, ..Bounds::default() };
    ends("ends, crashes", Protocol { bounds: crashes, ..Protocol::new(file.clone()) });
    ends("ends, losses", Protocol { bounds: losses, sweeper: true, ..Protocol::new(file) });
}

#[test]
fn so_it_is_with_a_retry_and_a_dead_letter() {
    let retries = Bounds { retries: 1, crashes: 1, deadlines: 1, ..Bounds::default() };
    let dead_letters = Bounds { dead_letters: 1, replays: 1, crashes: 1, ..Bounds::default() };
    let file = vec![vec![vec![Busy(1), Correction]], vec![vec![Good]]];
    ends("ends, retry", Protocol { bounds: retries, runs: [1, 1, 1], ..Protocol::new(file) });
    let file = vec![vec![vec![Busy(1), Correction]]];
    ends("ends, replay", Protocol { bounds: dead_letters, sweeper: true, ..Protocol::new(file) });
}

/// Checks termination. No condition is ever removed here: without one, the walk may not end.
fn ends(name: &str, protocol: Protocol) {
    let states = walk(&without_layer(protocol));
    println!("{name}: {states} states, none twice on a path");
}
