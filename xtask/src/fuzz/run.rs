//! Runs libFuzzer on one target, and parses its output.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::corpus::{Corpus, read_files, replace_folder};
use local_cloud::project::Project;

/// Timeout of one input, in seconds: a thousand times the slowest input.
const INPUT_TIMEOUT_S: u32 = 20;

/// The binary with all targets.
pub(super) struct Fuzzer<'a> {
    pub(super) binary: PathBuf,
    pub(super) project: &'a Project,
}

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    executions: String,
    per_second: String,
    /// The last status line: coverage and corpus size.
    pulse: String,
    /// The input that breaks a guarantee, and the end of its error output.
    pub(super) crash: Option<(PathBuf, Vec<String>)>,
}

impl Outcome {
    /// Describes the result for the user.
    pub(super) fn described(&self, project: &Project, target: &str) -> String {
        let Self { executions, per_second, pulse, crash } = self;
        let summary = format!("{executions} executions, {per_second}/s, {pulse}");
        let Some((path, reported)) = crash else { return summary };
        let path = project.short(path);
        let again = format!("cargo xtask fuzz {target} --input {path}");
        format!("{summary}\n{}\n  BROKEN by {path}\n  again: {again}", reported.join("\n"))
    }

    fn read(&mut self, line: &str) {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = count.trim().to_owned();
        } else if let Some(count) = line.strip_prefix("stat::average_exec_per_sec:") {
            self.per_second = count.trim().to_owned();
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.crash = Some((path.trim().into(), Vec::new()));
        } else if let Some(pulse) = pulse(line) {
            self.pulse = pulse;
        }
    }
}

/// Extracts the relevant part of `#1024 NEW cov: 512 ft: 600 corp: 20/3Kb lim: 4 exec/s: 512 …`.
fn pulse(line: &str) -> Option<String> {
    let rest = line.strip_prefix('#').and(line.split_once(" cov: "))?.1;
    let mut words = rest.split_whitespace();
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

    /// Folders of the committed inputs, for libFuzzer to read: the seeds, and the packed corpus unpacked.
    fn committed(&self, target: &str) -> Result<[PathBuf; 2]> {
        let corpus = Corpus::new(self.project, target);
        let unpacked = self.project.root.join("target/fuzz/unpacked").join(target);
        corpus.unpack(&unpacked)?;
        Ok([corpus.seeds, unpacked])
    }

    fn found(&self, target: &str) -> Result<PathBuf> {
        let folder = self.project.root.join("target/fuzz").join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// Fuzzes a target; `watch` is called with the progress.
    pub(super) fn fuzz(
        &self,
        target: &str,
        (seconds, seed): (u32, Option<u32>),
        watch: &dyn Fn(&str),
    ) -> Result<Outcome> {
        let artifacts = self.project.root.join("tests/fuzz/artifacts");
        fs::create_dir_all(&artifacts).with_context(|| format!("cannot create {}", artifacts.display()))?;
        let mut command = self.command(target);
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={INPUT_TIMEOUT_S}"));
        // For libFuzzer, zero means a random seed.
        command.arg(format!("-seed={}", seed.unwrap_or_default()));
        command.arg(format!("-artifact_prefix={}/{target}-", artifacts.display())).arg("-print_final_stats=1");
        let mut child =
            command.arg(self.found(target)?).args(self.committed(target)?).stderr(Stdio::piped()).spawn()?;
        let output = child.stderr.take().context("libFuzzer has no output")?;
        let (mut outcome, mut reported) = (Outcome::default(), Vec::new());
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            outcome.read(&line);
            watch(&outcome.pulse);
            if reported.len() < 12
                && (!reported.is_empty() || line.contains("panicked at") || line.contains("ERROR: libFuzzer"))
            {
                reported.push(format!("  | {line}"));
            }
        }
        if child.wait()?.success() {
            // A slow input is written too, and breaks nothing.
            outcome.crash = None;
        } else {
            let (path, _) = outcome
                .crash
                .take()
                .with_context(|| format!("{target} ended, and left no input\n{}", reported.join("\n")))?;
            outcome.crash = Some((path, reported));
        }
        Ok(outcome)
    }

    /// Runs a target once; libFuzzer prints the result.
    pub(super) fn call(&self, target: &str, input: &Path) -> Result<()> {
        let input = input.canonicalize().with_context(|| format!("cannot find {}", input.display()))?;
        if !self.command(target).arg(input).status()?.success() {
            bail!("{target} breaks on it: see above");
        }
        Ok(())
    }

    /// Minimises the packed corpus to the fewest inputs that, with the seeds, keep the coverage of all inputs.
    pub(super) fn minimise(&self, target: &str) -> Result<()> {
        let fresh = self.project.root.join("target/fuzz/minimised").join(target);
        replace_folder(&fresh)?;
        let mut command = self.command(target);
        command.arg("-merge=1").arg(&fresh).args(self.committed(target)?).arg(self.found(target)?);
        ensure!(command.stderr(Stdio::null()).status()?.success(), "the corpus of {target} cannot be minimised");
        Corpus::new(self.project, target).replace(read_files(&fresh)?.into_iter().collect())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_prints_is_read() {
        let mut outcome = Outcome::default();
        for line in [
            "#1024\tNEW    cov: 512 ft: 600 corp: 20/3000b lim: 4 exec/s: 512 rss: 36Mb L: 8/9 MS: 1 EraseBytes-",
            "stat::number_of_executed_units: 16710",
            "stat::average_exec_per_sec:     1044",
            "INFO: seed corpus: files: 20 min: 1b max: 30b",
        ] {
            outcome.read(line);
        }
        assert_eq!((outcome.executions.as_str(), outcome.per_second.as_str()), ("16710", "1044"));
        assert_eq!(outcome.pulse, "coverage 512 (600 features), corpus 20 inputs of 3000b");
        assert!(outcome.crash.is_none());
        outcome.read("artifact_prefix='a/'; Test unit written to a/rows-crash-0be1");
        assert_eq!(outcome.crash.map(|(path, _)| path), Some("a/rows-crash-0be1".into()));
    }
}
