//! A soak: very many seeds, with how far it is, how to go on from there, and a record of what it found.
//!
//! A violation does not end it. The record is a row of a table below `infra/proof`, written anew every minute: what was
//! stopped half-way is recorded as far as it came.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{HumanDuration, ProgressBar};

use crate::project::Project;
use crate::{machine, progress};

/// Where the records go, below the checkout.
const RECORD: &str = "infra/proof/soaks.md";

const HEADER: &str = "# Soaks

Runs of the simulation over very many seeds, by `cargo xtask sim --soak`: see [README.md](README.md).

| date | commit | from | seeds | violations | seconds | seeds/s |
| ---- | ------ | ---- | ----- | ---------- | ------- | ------- |
";

/// How often it says how to go on, and records how far it came.
const EVERY: Duration = Duration::from_secs(60);

/// How far the tests say that they are: seeds done, the first one that is not, violations.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct Reached {
    done: u64,
    next: u64,
    violations: u64,
}

impl Reached {
    /// Reads `soak DONE NEXT VIOLATIONS`; none if the line is another.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("soak ")?.split(' ').map(str::parse);
        let mut number = || words.next()?.ok();
        Some(Self { done: number()?, next: number()?, violations: number()? })
    }
}

/// A stretch of seeds.
pub(super) struct Soak<'a> {
    pub(super) project: &'a Project,
    pub(super) from: u64,
    pub(super) seeds: u64,
}

impl Soak<'_> {
    /// Runs the tests, and shows what they say of how far they are.
    pub(super) fn run(&self, mut tests: Command) -> Result<()> {
        let (begun, mut told_at, mut reached) = (Instant::now(), Instant::now(), Reached::default());
        let earlier = fs::read_to_string(self.project.root.join(RECORD)).unwrap_or_else(|_| HEADER.to_owned());
        // Computed once, since writing the record is itself an uncommitted change.
        let stamp = machine::stamp(self.project);
        let bar = ProgressBar::new(self.seeds);
        let template = "{wide_bar} {pos} of {len} seeds ({percent} %), {per_sec}, {eta} left{msg}";
        bar.set_style(progress::style(template));
        let mut child = tests.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
        let output = child.stdout.take().context("the tests have no output")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            let Some(now) = Reached::read(&line) else {
                if line.starts_with("seed ") {
                    bar.suspend(|| println!("{line}"));
                }
                continue;
            };
            reached = now;
            bar.set_position(reached.done);
            bar.set_message(format!(", {} violations", reached.violations));
            if told_at.elapsed() >= EVERY {
                told_at = Instant::now();
                bar.suspend(|| println!("{}", self.told(reached, begun.elapsed())));
                self.record(&earlier, &stamp, reached, begun.elapsed())?;
            }
        }
        bar.finish_and_clear();
        let passed = child.wait()?.success();
        println!("{}", self.told(reached, begun.elapsed()));
        if reached.done > 0 {
            self.record(&earlier, &stamp, reached, begun.elapsed())?;
        }
        if !passed && reached.violations == 0 {
            bail!("the simulation itself failed: see above");
        }
        if reached.violations > 0 {
            bail!("{} seeds violate something: they are above", reached.violations);
        }
        Ok(())
    }

    /// How far it is; and how to go on, if it is not at its end.
    fn told(&self, reached: Reached, time: Duration) -> String {
        let rate = reached.done as f64 / time.as_secs_f64().max(0.001);
        let left = self.seeds.saturating_sub(reached.done);
        let violations = reached.violations;
        let told = format!("{} of {} seeds, {rate:.0}/s, {violations} violations", reached.done, self.seeds);
        if left == 0 {
            return told;
        }
        let time_left = HumanDuration(Duration::from_secs_f64(left as f64 / rate.max(0.001)));
        let (from, rest) = (reached.next, (self.from + self.seeds).saturating_sub(reached.next));
        format!("{told}, {time_left} left; to go on from here: cargo xtask sim --soak --from {from} --seeds {rest}")
    }

    fn record(&self, earlier: &str, stamp: &(String, String), reached: Reached, time: Duration) -> Result<()> {
        let path = self.project.root.join(RECORD);
        let row = self.row(reached, time, stamp);
        fs::write(&path, format!("{earlier}{row}")).with_context(|| format!("cannot write {}", path.display()))
    }

    fn row(&self, reached: Reached, time: Duration, (date, commit): &(String, String)) -> String {
        // Of seeds that are done some may be behind one that is not: they are run again, and not recorded.
        let (seeds, seconds) = (reached.next.saturating_sub(self.from), time.as_secs());
        let rate = reached.done / seconds.max(1);
        format!("| {date} | {commit} | {} | {seeds} | {} | {seconds} | {rate} |\n", self.from, reached.violations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_goes_on_where_every_seed_before_is_done() {
        let reached = Reached::read("soak 40 138 1");
        assert_eq!(reached, Some(Reached { done: 40, next: 138, violations: 1 }));
        assert_eq!(Reached::read("seed 7: something"), None);
        let project = Project::find().unwrap();
        let soak = Soak { project: &project, from: 100, seeds: 200 };
        let told = soak.told(reached.unwrap(), Duration::from_secs(4));
        assert_eq!(
            told,
            "40 of 200 seeds, 10/s, 1 violations, 16 seconds left; \
             to go on from here: cargo xtask sim --soak --from 138 --seeds 162"
        );
        let stamp = ("2026-11-22 22:00 UTC".to_owned(), "abc".to_owned());
        let row = soak.row(reached.unwrap(), Duration::from_secs(4), &stamp);
        assert_eq!(row, "| 2026-11-22 22:00 UTC | abc | 100 | 38 | 1 | 4 | 10 |\n");
    }
}
