//! Options and steps of `fuzz`.

use super::build;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use super::corpus::Corpus;
use super::run::{Fuzzer, Limits, Outcome};
use local_cloud::project::Project;
use longshore_cli::progress;

/// Options of `fuzz`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only these targets: splitter, rows, messages, requests [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Seconds to fuzz each target
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
    /// Seed of the random numbers, at least 1 [default: a random seed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seed: Option<u32>,
    /// Run one target once with this file, to reproduce a crash
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "seed", "minimise"])]
    input: Option<PathBuf>,
    /// Add new inputs to the packed corpus, and remove inputs that do not increase the coverage
    #[arg(long)]
    minimise: bool,
    /// Add these files, or the files in these folders, to the packed corpus of one target; does not fuzz
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["seconds", "seed", "input", "minimise"])]
    pack: Vec<PathBuf>,
    /// Unpack the corpus of one target into this new folder, one file per input; does not fuzz
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["seconds", "seed", "input", "minimise", "pack"])]
    unpack: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let targets = select_targets(project, &options.targets)?;
    if options.unpack.is_some() || !options.pack.is_empty() {
        let [target] = &options.targets[..] else { bail!("--pack and --unpack require exactly one target") };
        return repack(&Corpus::new(project, target), options);
    }
    let fuzzer = Fuzzer { binary: build::binary(project)?, project };
    if let Some(input) = &options.input {
        let [target] = &options.targets[..] else { bail!("--input requires exactly one target") };
        return fuzzer.reproduce(target, input);
    }
    let limits = Limits { seconds: options.seconds, seed: options.seed };
    let outcomes = fuzz_in_parallel(&fuzzer, &targets, limits)?;
    let crashes: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.crash.as_ref()).collect();
    ensure!(crashes.is_empty(), "{} of {} targets fail for an input: see above", crashes.len(), targets.len());
    if options.minimise {
        targets.iter().try_for_each(|target| fuzzer.minimise(target))?;
    }
    Ok(())
}

/// Adds files to the packed corpus, or unpacks it.
fn repack(corpus: &Corpus, options: &Options) -> Result<()> {
    if let Some(folder) = &options.unpack {
        ensure!(!folder.exists(), "{} already exists", folder.display());
        return corpus.unpack(folder);
    }
    let (before, after) = corpus.add(&options.pack)?;
    println!("{after} packed inputs, {} of them new", after - before);
    Ok(())
}

/// Returns the targets to run: these names, or all targets. Each folder of seeds belongs to a target.
fn select_targets(project: &Project, names: &[String]) -> Result<Vec<String>> {
    let folder = project.root.join("fuzz/seeds");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut targets: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    targets.sort_unstable();
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        bail!("there is no target {unknown}; the targets are {}", targets.join(", "));
    }
    Ok(if names.is_empty() { targets } else { names.to_vec() })
}

/// Fuzzes the targets in parallel, one per core.
fn fuzz_in_parallel(fuzzer: &Fuzzer<'_>, targets: &[String], limits: Limits) -> Result<Vec<Outcome>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let step = progress::step(&format!("Fuzzing {} for {} s each", targets.join(", "), limits.seconds));
    let (waiting, outcomes) = (Mutex::new(targets.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..cores.min(targets.len()) {
            scope.spawn(|| {
                while let Some(target) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
                    let outcome = fuzzer.fuzz(target, limits, &|status| step.detail(&format!("{target} {status}")));
                    if let Ok(outcome) = &outcome {
                        eprintln!("  {target}: {}", outcome.describe(fuzzer.project, target));
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
