//! Regression test: gives every target its committed corpus.
//!
//! The input of a fixed crash belongs there, too, so that every test run checks it.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

use std::fs::{read, read_dir};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use fuzz::TARGETS;

fn inputs(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn no_promise_is_broken_by_any_input_of_the_corpus() {
    for target in TARGETS {
        let inputs = inputs(target.name);
        assert!(inputs.len() >= 20, "{} has {} inputs", target.name, inputs.len());
        for path in inputs {
            let bytes = read(&path).unwrap();
            assert!(catch_unwind(|| (target.call)(&bytes)).is_ok(), "{} breaks on {}", target.name, path.display());
        }
    }
}

#[test]
fn the_corpus_is_small() {
    let bytes = |target: &str| inputs(target).iter().map(|path| path.metadata().unwrap().len()).sum::<u64>();
    let all: u64 = TARGETS.iter().map(|target| bytes(target.name)).sum();
    assert!(all < 300_000, "{all} bytes");
}
