//! `fuzz`: seeks inputs that break a promise, guided by the code that each input reaches.
//!
//! The targets are functions of `tests/fuzz`, which plain tests call, too; here they are instrumented and linked with
//! libFuzzer, on the stable compiler. What is found beyond the committed corpus is kept under `target/fuzz`, so that the
//! next run goes on from there.

mod build;
mod run;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::progress;
use crate::project::Project;
use run::{Fuzzer, Outcome};

/// What `fuzz` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these targets: splitter, rows, messages, requests
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// How long each target is fuzzed
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
    /// Begin with this number: without it each run tries other inputs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seed: Option<u32>,
    /// Call the one target named once with this file, to see a crash again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "seed", "minimise"])]
    input: Option<PathBuf>,
    /// Put what was found into the committed corpus, and take out of it what reaches nothing new
    #[arg(long)]
    minimise: bool,
}

/// The command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let targets = wanted(project, &options.targets)?;
    let fuzzer = Fuzzer { binary: build::binary(project)?, project };
    if let Some(input) = &options.input {
        let [target] = &options.targets[..] else { bail!("--input needs the one target that takes it") };
        return fuzzer.call(target, input);
    }
    let outcomes = at_once(&fuzzer, &targets, (options.seconds, options.seed))?;
    let crashes: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.crash.as_ref()).collect();
    ensure!(crashes.is_empty(), "{} of {} targets break on an input: see above", crashes.len(), targets.len());
    if options.minimise {
        targets.iter().try_for_each(|target| fuzzer.minimise(target))?;
    }
    Ok(())
}

/// Each folder of the committed corpus is a target's.
fn wanted(project: &Project, named: &[String]) -> Result<Vec<String>> {
    let folder = project.root.join("tests/fuzz/corpus");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut known: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    known.sort_unstable();
    let unknown = named.iter().find(|name| !known.contains(name));
    ensure!(
        unknown.is_none(),
        "there is no target {}; there are {}",
        unknown.map_or("", String::as_str),
        known.join(", ")
    );
    Ok(if named.is_empty() { known } else { named.to_vec() })
}

/// Fuzzes the targets, one on each core.
fn at_once(fuzzer: &Fuzzer<'_>, targets: &[String], (seconds, seed): (u32, Option<u32>)) -> Result<Vec<Outcome>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let step = progress::step(&format!("fuzzing {} for {seconds} s each", targets.join(", ")));
    let (waiting, outcomes) = (Mutex::new(targets.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..cores.min(targets.len()) {
            scope.spawn(|| {
                while let Some(target) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
                    let outcome =
                        fuzzer.fuzz(target, (seconds, seed), &|pulse| step.detail(&format!("{target} {pulse}")));
                    if let Ok(outcome) = &outcome {
                        eprintln!("  {target}: {}", outcome.described(fuzzer.project, target));
                    }
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let outcomes: Result<Vec<_>> = outcomes.into_inner().unwrap_or_default().into_iter().collect();
    step.done();
    outcomes
}
