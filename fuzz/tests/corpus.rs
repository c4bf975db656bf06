//! Regression test: runs every target over its committed corpus.
//!
//! It includes the input of each fixed crash, so that every test run checks it.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::collections::BTreeSet;
use std::fs::read;
use std::panic::catch_unwind;
use std::path::Path;

use fuzz::TARGETS;
use fuzz_engine::{pack, seeds, unpack};

/// The inputs of a target, each with a name: that of a seed, or its number in the packed corpus.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut inputs: Vec<_> = seeds(target).iter().map(|(name, seed)| (name.to_string(), seed.to_vec())).collect();
    let packed = packed(target);
    let numbered = unpack(&packed).unwrap().into_iter().enumerate();
    inputs.extend(numbered.map(|(number, input)| (format!("input {number} of the packed corpus"), input.to_vec())));
    inputs
}

fn packed(target: &str) -> Vec<u8> {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format!("{target}.pack"))).unwrap()
}

#[test]
fn every_corpus_input_passes_its_target() {
    for target in TARGETS {
        for (name, bytes) in inputs(target.name) {
            assert!(catch_unwind(|| (target.call)(&bytes)).is_ok(), "{} fails for {name}", target.name);
        }
    }
}

#[test]
fn every_target_has_named_seeds_and_a_separate_packed_corpus() {
    for target in TARGETS {
        let seeds = seeds(target.name);
        assert!((10..=40).contains(&seeds.len()), "{} has {} seeds", target.name, seeds.len());
        for (name, _) in seeds {
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(name.contains('-') && name.split('-').all(is_word), "{name} does not name its input");
        }
        let packed = packed(target.name);
        let inputs = unpack(&packed).unwrap();
        assert!(inputs.len() >= 20, "{} has {} packed inputs", target.name, inputs.len());
        let seeds: BTreeSet<_> = seeds.iter().map(|(_, bytes)| *bytes).collect();
        assert!(
            inputs.iter().all(|input| !seeds.contains(input)),
            "the packed corpus of {} contains a seed",
            target.name
        );
        assert_eq!(
            pack(inputs.into_iter().map(<[u8]>::to_vec)),
            packed,
            "the packed corpus of {} is not in order",
            target.name
        );
    }
}

#[test]
fn the_corpus_is_small() {
    let bytes = |target: &str| inputs(target).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    let total: usize = TARGETS.iter().map(|target| bytes(target.name)).sum();
    assert!(total < 400_000, "{total} bytes");
}
