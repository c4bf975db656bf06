//! Options and steps of `fuzz`. Runs libFuzzer on one target and parses its output.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use super::build;
use super::corpus::{Corpus, read_files, replace_folder};
use local_cloud::project::Project;
use longshore_cli::progress;

/// Options of `fuzz`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only these targets: splitter, rows, messages, requests, images, preparation [default: all]
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
    let targets = select_targets(&options.targets)?;
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

/// Returns the targets to run: these names, or all targets. Each target has seeds.
fn select_targets(names: &[String]) -> Result<Vec<String>> {
    let targets = Vec::from(fuzz_engine::SEEDS.map(|(target, _)| target.to_owned()));
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

/// Timeout of one input, in seconds: a thousand times the time of the slowest known input.
const INPUT_TIMEOUT_S: u32 = 20;

/// Number of lines of a crash's error output that are printed.
const ERROR_LINES: usize = 12;

/// The binary with all targets.
struct Fuzzer<'a> {
    binary: PathBuf,
    project: &'a Project,
}

/// Duration and seed of a run.
#[derive(Clone, Copy)]
struct Limits {
    seconds: u32,
    /// `None` for a random seed.
    seed: Option<u32>,
}

/// The result of a run.
#[derive(Debug, Default)]
struct Outcome {
    executions: String,
    per_second: String,
    /// Coverage and corpus size, from the last status line.
    status: String,
    /// The input that breaks a guarantee, and the start of its error output.
    crash: Option<(PathBuf, Vec<String>)>,
}

impl Outcome {
    /// Describes the result for the user.
    fn describe(&self, project: &Project, target: &str) -> String {
        let Self { executions, per_second, status, crash } = self;
        let summary = format!("{executions} executions, {per_second}/s, {status}");
        let Some((path, error)) = crash else { return summary };
        let path = project.short(path);
        let command = format!("cargo xtask fuzz {target} --input {path}");
        format!("{summary}\n{}\n  FAILED for {path}\n  to reproduce: {command}", error.join("\n"))
    }

    fn read_line(&mut self, line: &str) {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = count.trim().to_owned();
        } else if let Some(count) = line.strip_prefix("stat::average_exec_per_sec:") {
            self.per_second = count.trim().to_owned();
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.crash = Some((path.trim().into(), Vec::new()));
        } else if let Some(status) = parse_status(line) {
            self.status = status;
        }
    }
}

/// Extracts coverage and corpus size from `#1024 NEW cov: 512 ft: 600 corp: 20/3Kb lim: 4 exec/s: 512 …`.
fn parse_status(line: &str) -> Option<String> {
    let fields = line.strip_prefix('#').and(line.split_once(" cov: "))?.1;
    let mut words = fields.split_whitespace();
    let (coverage, _, features, _, corpus) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let (inputs, bytes) = corpus.split_once('/')?;
    Some(format!("coverage {coverage} ({features} features), corpus {inputs} inputs of {bytes}"))
}

impl Fuzzer<'_> {
    fn command(&self, target: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("LONGSHORE_FUZZ_TARGET", target).env("RUST_BACKTRACE", "0").current_dir(&self.project.root);
        command
    }

    /// Writes the committed inputs to two folders, the seeds and the unpacked corpus. Returns their paths.
    fn committed_inputs(&self, target: &str) -> Result<[PathBuf; 2]> {
        let corpus = Corpus::new(self.project, target);
        let folder = |name: &str| self.project.root.join("target/fuzz").join(name).join(target);
        let (seeds, unpacked) = (folder("seeds"), folder("unpacked"));
        corpus.write_seeds(&seeds)?;
        corpus.unpack(&unpacked)?;
        Ok([seeds, unpacked])
    }

    /// Returns the folder of the inputs that earlier runs found.
    fn new_inputs(&self, target: &str) -> Result<PathBuf> {
        let folder = self.project.root.join("target/fuzz").join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// Fuzzes a target. Calls `on_status` with the progress.
    fn fuzz(&self, target: &str, limits: Limits, on_status: &dyn Fn(&str)) -> Result<Outcome> {
        let Limits { seconds, seed } = limits;
        let artifacts = self.project.root.join("fuzz/artifacts");
        fs::create_dir_all(&artifacts).with_context(|| format!("cannot create {}", artifacts.display()))?;
        let mut command = self.command(target);
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={INPUT_TIMEOUT_S}"));
        // In libFuzzer, zero means a random seed.
        command.arg(format!("-seed={}", seed.unwrap_or_default()));
        command.arg(format!("-artifact_prefix={}/{target}-", artifacts.display())).arg("-print_final_stats=1");
        let mut child = command
            .arg(self.new_inputs(target)?)
            .args(self.committed_inputs(target)?)
            .stderr(Stdio::piped())
            .spawn()?;
        let output = child.stderr.take().context("libFuzzer has no output")?;
        let (mut outcome, mut error) = (Outcome::default(), Vec::new());
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            outcome.read_line(&line);
            on_status(&outcome.status);
            if error.len() < ERROR_LINES
                && (!error.is_empty() || line.contains("panicked at") || line.contains("ERROR: libFuzzer"))
            {
                error.push(format!("  | {line}"));
            }
        }
        if child.wait()?.success() {
            // libFuzzer also saves slow inputs, which are not crashes.
            outcome.crash = None;
        } else {
            let (path, _) = outcome
                .crash
                .take()
                .with_context(|| format!("{target} failed without saving an input\n{}", error.join("\n")))?;
            outcome.crash = Some((path, error));
        }
        Ok(outcome)
    }

    /// Runs a target once with an input, and prints the input as a byte string. libFuzzer prints the result.
    fn reproduce(&self, target: &str, input: &Path) -> Result<()> {
        let input = input.canonicalize().with_context(|| format!("cannot find {}", input.display()))?;
        println!("b\"{}\"", fs::read(&input)?.escape_ascii());
        if !self.command(target).arg(input).status()?.success() {
            bail!("{target} fails for this input: see above");
        }
        Ok(())
    }

    /// Reduces the packed corpus to the fewest inputs that, with the seeds, have the coverage of all inputs.
    fn minimise(&self, target: &str) -> Result<()> {
        let merged = self.project.root.join("target/fuzz/minimised").join(target);
        replace_folder(&merged)?;
        let mut command = self.command(target);
        command.arg("-merge=1").arg(&merged).args(self.committed_inputs(target)?).arg(self.new_inputs(target)?);
        ensure!(command.stderr(Stdio::null()).status()?.success(), "the corpus of {target} cannot be minimised");
        Corpus::new(self.project, target).replace(read_files(&merged)?.into_iter().collect())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_libfuzzer_is_parsed() {
        let mut outcome = Outcome::default();
        for line in [
            "#1024\tNEW    cov: 512 ft: 600 corp: 20/3000b lim: 4 exec/s: 512 rss: 36Mb L: 8/9 MS: 1 EraseBytes-",
            "stat::number_of_executed_units: 16710",
            "stat::average_exec_per_sec:     1044",
            "INFO: seed corpus: files: 20 min: 1b max: 30b",
        ] {
            outcome.read_line(line);
        }
        assert_eq!((outcome.executions.as_str(), outcome.per_second.as_str()), ("16710", "1044"));
        assert_eq!(outcome.status, "coverage 512 (600 features), corpus 20 inputs of 3000b");
        assert!(outcome.crash.is_none());
        outcome.read_line("artifact_prefix='a/'; Test unit written to a/rows-crash-0be1");
        assert_eq!(outcome.crash.map(|(path, _)| path), Some("a/rows-crash-0be1".into()));
    }
}
