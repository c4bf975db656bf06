//! The command: targets, time and seed.

use super::build;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use super::corpus::Corpus;
use super::run::{Fuzzer, Outcome};
use local_cloud::project::Project;
use longshore_cli::progress;

/// Options of `fuzz`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these targets: splitter, rows, messages, requests [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Seconds to fuzz each target
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
    /// Random seed, from 1; without it, each run tries other inputs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seed: Option<u32>,
    /// Run the one named target once with this file, to reproduce a crash
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "seed", "minimise"])]
    input: Option<PathBuf>,
    /// Add new inputs to the packed corpus, and remove inputs from it that reach nothing new
    #[arg(long)]
    minimise: bool,
    /// Add these files, or the files in these folders, to the packed corpus of the one named target; no fuzzing
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["seconds", "seed", "input", "minimise"])]
    pack: Vec<PathBuf>,
    /// Unpack the corpus of the one named target into this new folder, one file per input; no fuzzing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["seconds", "seed", "input", "minimise", "pack"])]
    unpack: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let targets = wanted(project, &options.targets)?;
    if options.unpack.is_some() || !options.pack.is_empty() {
        let [target] = &options.targets[..] else {
            bail!("--pack and --unpack need the one target that they are about")
        };
        return repack(&Corpus::new(project, target), options);
    }
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

/// Adds to the packed corpus, or writes it to a folder.
fn repack(corpus: &Corpus, options: &Options) -> Result<()> {
    if let Some(folder) = &options.unpack {
        ensure!(!folder.exists(), "{} exists", folder.display());
        return corpus.unpack(folder);
    }
    let (before, after) = corpus.add(&options.pack)?;
    println!("{after} packed inputs, {} of them new", after - before);
    Ok(())
}

/// The targets to run: each folder of seeds belongs to a target.
fn wanted(project: &Project, named: &[String]) -> Result<Vec<String>> {
    let folder = project.root.join("tests/fuzz/seeds");
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

/// Fuzzes the targets in parallel, one per core.
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
