//! One part of the verification: a run of tests that writes measurements.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::release::Release;
use super::second_engine;
use super::versions::PreviousRelease;
use local_cloud::cargo;
use local_cloud::project::Project;
use longshore_cli::progress;

/// Environment variable with the seed of an earlier run.
const SEED: &str = "LONGSHORE_SEED";

/// Number of lines that are printed of a failed run; its log has all lines.
const TAIL_LINES: usize = 60;

/// The parts, in the order of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Part {
    /// Every interleaving of small configurations of the protocol, and random walks through larger ones
    Model,
    /// The real functions over in-memory services, with faults at any step; one run per seed
    Simulation,
    /// Completion of large jobs over in-memory services, with the deployed timeout
    Completion,
    /// The deployed stack, while calls fail, functions are killed and the emulator restarts
    Faults,
    /// Malformed and unusual files through the deployed stack
    Corpus,
    /// Many parallel jobs of several tenants, and a large job that is canceled
    Load,
    /// The conformance suite's DynamoDB tests on a second engine, which is built once and cached
    SecondEngine,
    /// The functions of the previous release beside those of this one, each swapped in both directions, under load
    Versions,
    /// Six faults that a seed plants in a running stack: each is shown by an alarm or a metric, found by `doctor`, and
    /// fixed as the runbook says
    GameDay,
    /// Binaries built with `cargo lambda build --release`, as for AWS: a row that panics, a package that is deployed
    Release,
}

impl Part {
    /// All parts, in order of execution: the cheap ones first.
    pub(crate) const ALL: [Self; 10] = [
        Self::Model,
        Self::Simulation,
        Self::Completion,
        Self::SecondEngine,
        Self::Faults,
        Self::Corpus,
        Self::Load,
        Self::Versions,
        Self::GameDay,
        Self::Release,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Simulation => "simulation",
            Self::Completion => "completion",
            Self::Faults => "faults",
            Self::Corpus => "corpus",
            Self::Load => "load",
            Self::SecondEngine => "second-engine",
            Self::Versions => "versions",
            Self::GameDay => "game-day",
            Self::Release => "release",
        }
    }

    /// Returns true if the part runs the deployed stack.
    pub(crate) fn needs_emulator(self) -> bool {
        matches!(self, Self::Faults | Self::Corpus | Self::Load | Self::Versions | Self::GameDay | Self::Release)
    }

    /// Returns true if a seed repeats the order of the part's faults.
    fn has_seed(self) -> bool {
        matches!(self, Self::Versions | Self::GameDay)
    }

    /// Returns the tables that the part must write. If a test was renamed or ran nothing, its table is missing.
    pub(super) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Model => &["model", "model-walks", "model-broken", "model-layers"],
            Self::Simulation => &[
                "simulation",
                "simulation-runs",
                "simulation-faults",
                "simulation-broken",
                "simulation-layers",
                "rate",
            ],
            Self::Completion => &["completion"],
            Self::Faults => &["faults", "faults-other", "faults-deliveries"],
            Self::Corpus => &["corpus"],
            Self::Load => &["load", "load-canceled"],
            Self::SecondEngine => &[second_engine::TABLE],
            Self::Versions => &["versions"],
            Self::GameDay => &["game-day"],
            Self::Release => &["release", "release-package"],
        }
    }

    /// Returns package, test target and filter of the part's tests. A script runs those of the second engine.
    fn tests(self) -> [&'static str; 3] {
        match self {
            Self::Model => ["longshore-domain", "model", ""],
            Self::Simulation => ["longshore-tests", "simulation", ""],
            Self::Completion => ["complete-job", "large", ""],
            Self::Faults => ["longshore-tests", "proof", "faults::"],
            Self::Corpus => ["longshore-tests", "proof", "corpus::"],
            Self::Load => ["longshore-tests", "proof", "load::"],
            Self::SecondEngine => ["longshore-tests", "conformance", "dynamodb"],
            Self::Versions => ["longshore-tests", "proof", "versions::"],
            Self::GameDay => ["longshore-tests", "proof", "game_day::"],
            Self::Release => ["longshore-tests", "proof", "release::"],
        }
    }
}

impl Part {
    /// Returns the files that change nothing that this part runs, as pathspecs of git.
    pub(crate) fn unaffected_by(self) -> Vec<&'static str> {
        let mut files = vec!["infra/proof"];
        if self == Self::GameDay {
            // The runbook is part of it.
            files.extend([":(glob)*.md", "docs/decisions", "docs/design", "docs/guides"]);
        } else {
            files.extend([":(glob)**/*.md", "tests/proof/game_day"]);
        }
        if !matches!(self, Self::Faults | Self::GameDay) {
            files.push("tests/proof/faults");
        }
        files
    }
}

/// The result of a part.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) part: Part,
    pub(crate) passed: bool,
    pub(crate) duration: Duration,
    /// The commit at which it ran.
    pub(crate) commit: String,
}

/// Settings that all parts of a run share.
pub(crate) struct Run<'a> {
    pub(crate) project: &'a Project,
    /// The checked-out commit.
    pub(crate) commit: &'a str,
    /// Folder for measurements and logs.
    pub(crate) folder: &'a Path,
    /// The release, if a part needs it.
    pub(crate) release: Option<&'a Release>,
    /// The functions of the previous release, if a part needs them.
    pub(crate) previous: Option<&'a PreviousRelease>,
    /// Folder of the emulator's tools, if a part needs it.
    pub(crate) venv: Option<&'a Path>,
    /// The removed condition or layer.
    pub(crate) without: Option<&'a str>,
    /// The seed of an earlier run.
    pub(crate) seed: Option<u64>,
}

impl Run<'_> {
    /// Runs a part. Failed tests are a result, not an error.
    pub(crate) fn part(&self, part: Part) -> Result<Outcome> {
        let step = progress::step(&format!("Part: {}", part.name()));
        let started = Instant::now();
        let log = self.folder.join(format!("{}.log", part.name()));
        let passed = watch(&mut self.command(part)?, &log, |line| step.detail(line))?;
        if part == Part::SecondEngine {
            second_engine::write_metrics(self.folder, &log)?;
        }
        let duration = started.elapsed();
        if passed {
            step.done();
        } else {
            drop(step);
            eprintln!("✗ Part: {}: failed; its output is in {}\n{}", part.name(), log.display(), tail(&log)?);
        }
        Ok(Outcome { part, passed, duration, commit: self.commit.to_owned() })
    }

    fn command(&self, part: Part) -> Result<Command> {
        if part == Part::SecondEngine {
            return second_engine::command(self.project);
        }
        let [package, target, filter] = part.tests();
        let mut tests = cargo::command(self.project);
        tests.args(["test", "--package", package, "--test", target, "--", "--test-threads", "2", filter]);
        tests.env(measurements::FOLDER, self.folder).env("LONGSHORE_FUNCTIONS_DIR", self.project.functions_dir());
        // These variables would restrict the run.
        for name in
            [measurements::WITHOUT, SEED, "LONGSHORE_SEEDS", "LONGSHORE_SEED_FROM", "LONGSHORE_FILE", "LONGSHORE_FAULT"]
        {
            if !part.has_seed() || name != SEED {
                tests.env_remove(name);
            }
        }
        tests.envs(self.seed.filter(|_| part.has_seed()).map(|seed| (SEED, seed.to_string())));
        tests.envs(self.venv.map(|venv| ("LONGSHORE_VENV", venv)));
        if let Some(release) = self.release.filter(|_| part == Part::Release) {
            tests.env(measurements::PROBE, &release.probe).env(measurements::PACKAGE, &release.package);
        }
        if let Some(previous) = self.previous.filter(|_| part == Part::Versions) {
            tests.env(measurements::PREVIOUS_RELEASE, &previous.functions);
            tests.env(measurements::PREVIOUS_RELEASE_NAME, &previous.name);
        }
        tests.envs(self.without.map(|name| (measurements::WITHOUT, name)));
        Ok(tests)
    }
}

/// Runs a command. Writes its output to the log, and passes each line to `on_line`. Returns true if it succeeded.
fn watch(command: &mut Command, log: &PathBuf, mut on_line: impl FnMut(&str)) -> Result<bool> {
    let mut file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
    let mut child =
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn().context("cannot run cargo")?;
    // Drops the command's write end of the pipe; otherwise the reader would wait forever.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        file.write_all(&line)?;
        file.write_all(b"\n")?;
        on_line(String::from_utf8_lossy(&line).trim());
    }
    Ok(child.wait()?.success())
}

fn tail(log: &Path) -> Result<String> {
    let text = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_failed_command_is_kept() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let (log, mut lines) = (dir.path().join("log"), Vec::new());
        let mut command = Command::new("sh");
        let passed =
            watch(command.args(["-c", "echo one; echo two >&2; exit 3"]), &log, |line| lines.push(line.to_owned()))?;
        assert!(!passed);
        assert_eq!((lines, tail(&log)?.as_str()), (vec!["one".to_owned(), "two".to_owned()], "one\ntwo"));
        Ok(())
    }
}
