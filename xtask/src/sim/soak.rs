//! A soak: a very long run of seeds, with progress, a command to continue it, and a record of its findings.
//!
//! A violation does not stop a soak. The record is a row of a table in `infra/proof`, rewritten every minute, so that
//! an interrupted soak is recorded up to that point.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{HumanDuration, ProgressBar};

use super::stop::Caught;
use bench::machine;
use local_cloud::project::Project;
use longshore_cli::progress;

/// Path of the record, below the checkout.
const RECORD: &str = "infra/proof/soaks.md";

const HEADER: &str = "# Soaks

Runs of the simulation over very many seeds, by `cargo xtask sim --soak`: see [README.md](README.md).

| date | commit | from | seeds | violations | seconds | seeds/s |
| ---- | ------ | ---- | ----- | ---------- | ------- | ------- |
";

/// Interval at which progress is printed and recorded.
const EVERY: Duration = Duration::from_secs(60);

/// Progress as the tests report it: seeds done, first seed not yet done, violations.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct Reached {
    done: u64,
    next: u64,
    violations: u64,
}

impl Reached {
    /// Parses `soak DONE NEXT VIOLATIONS`; `None` for any other line.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("soak ")?.split(' ').map(str::parse);
        let mut number = || words.next()?.ok();
        Some(Self { done: number()?, next: number()?, violations: number()? })
    }
}

/// A range of seeds.
pub(super) struct Soak<'a> {
    pub(super) project: &'a Project,
    pub(super) from: u64,
    pub(super) seeds: u64,
    /// The removed condition or layer. Such a soak is not recorded, because its violations are expected.
    pub(super) without: Option<&'a str>,
}

/// The state of a running soak.
struct Course<'a> {
    soak: &'a Soak<'a>,
    bar: ProgressBar,
    begun: Instant,
    reported_at: Instant,
    reached: Reached,
    /// The rows of other soaks.
    earlier: String,
    stamp: (String, String),
}

impl Soak<'_> {
    /// Runs the tests, and shows their progress. A signal stops them; the progress so far is printed and recorded.
    pub(super) fn run(&self, mut tests: Command) -> Result<()> {
        let mut course = self.begin();
        // Before the tests are started: their process group would outlive a signal that ends this process.
        let caught = Caught::new()?;
        let mut child = tests.stdout(Stdio::piped()).process_group(0).spawn().context("cannot run cargo")?;
        let stopped = caught.stop(child.id());
        let output = child.stdout.take().context("the tests have no output")?;
        for line in BufReader::new(output).lines() {
            course.read(&line?)?;
        }
        course.bar.finish_and_clear();
        let passed = child.wait()?.success();
        course.report_and_record()?;
        let violations = course.reached.violations;
        match (passed, stopped.is_set()) {
            (true, _) => Ok(()),
            (false, true) => bail!("stopped before its end, after {violations} violations"),
            (false, false) if violations == 0 => bail!("the simulation itself failed: see above"),
            (false, false) => bail!("{violations} seeds violate something: they are above"),
        }
    }

    fn begin(&self) -> Course<'_> {
        let bar = ProgressBar::new(self.seeds);
        let template = "{wide_bar} {pos} of {len} seeds ({percent} %), {per_sec}, {eta} left{msg}";
        bar.set_style(progress::style(template));
        Course {
            soak: self,
            bar,
            begun: Instant::now(),
            reported_at: Instant::now(),
            reached: Reached { next: self.from, ..Reached::default() },
            earlier: fs::read_to_string(self.project.root.join(RECORD)).unwrap_or_else(|_| HEADER.to_owned()),
            stamp: machine::stamp(self.project, RECORD),
        }
    }

    /// Describes the progress, with the command to continue if the soak has not ended.
    fn described(&self, reached: Reached, time: Duration) -> String {
        let rate = reached.done as f64 / time.as_secs_f64().max(0.001);
        let left = self.seeds.saturating_sub(reached.done);
        let violations = reached.violations;
        let mut described = format!("{} of {} seeds, {rate:.0}/s, {violations} violations", reached.done, self.seeds);
        if left == 0 {
            return described;
        }
        if let Ok(time_left) = Duration::try_from_secs_f64(left as f64 / rate) {
            described += &format!(", {} left", HumanDuration(time_left));
        }
        let (from, rest) = (reached.next, (self.from + self.seeds).saturating_sub(reached.next));
        let without = self.without.map(|name| format!(" --without {name}")).unwrap_or_default();
        format!("{described}; to go on from here: cargo xtask sim --soak --from {from} --seeds {rest}{without}")
    }

    fn row(&self, reached: Reached, time: Duration, (date, commit): &(String, String)) -> String {
        // Seeds that are done after one that is not done are run again, and not recorded.
        let (seeds, seconds) = (reached.next.saturating_sub(self.from), time.as_secs());
        let rate = reached.done / seconds.max(1);
        format!("| {date} | {commit} | {} | {seeds} | {} | {seconds} | {rate} |\n", self.from, reached.violations)
    }
}

impl Course<'_> {
    /// Parses a line of the tests, and prints and records the progress every minute.
    fn read(&mut self, line: &str) -> Result<()> {
        let Some(reached) = Reached::read(line) else {
            if line.starts_with("seed ") {
                self.bar.suspend(|| println!("{line}"));
            }
            return Ok(());
        };
        self.reached = reached;
        self.bar.set_position(reached.done);
        self.bar.set_message(format!(", {} violations", reached.violations));
        if self.reported_at.elapsed() >= EVERY {
            self.reported_at = Instant::now();
            self.report_and_record()?;
        }
        Ok(())
    }

    fn report_and_record(&self) -> Result<()> {
        let time = self.begun.elapsed();
        self.bar.suspend(|| println!("{}", self.soak.described(self.reached, time)));
        if self.reached.next == self.soak.from || self.soak.without.is_some() {
            return Ok(());
        }
        let path = self.soak.project.root.join(RECORD);
        let row = self.soak.row(self.reached, time, &self.stamp);
        fs::write(&path, format!("{}{row}", self.earlier)).with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_cloud::project::Build;

    #[test]
    fn what_is_reported_goes_on_where_every_seed_before_is_done() {
        let reached = Reached::read("soak 40 138 1");
        assert_eq!(reached, Some(Reached { done: 40, next: 138, violations: 1 }));
        assert_eq!(Reached::read("seed 7: something"), None);
        let project = Project::find().unwrap();
        let mut soak = Soak { project: &project, from: 100, seeds: 200, without: None };
        let described = soak.described(reached.unwrap(), Duration::from_secs(4));
        assert_eq!(
            described,
            "40 of 200 seeds, 10/s, 1 violations, 16 seconds left; \
             to go on from here: cargo xtask sim --soak --from 138 --seeds 162"
        );
        let stamp = ("2026-11-22 22:00 UTC".to_owned(), "abc".to_owned());
        let row = soak.row(reached.unwrap(), Duration::from_secs(4), &stamp);
        assert_eq!(row, "| 2026-11-22 22:00 UTC | abc | 100 | 38 | 1 | 4 | 10 |\n");
        soak.without = Some("deduplication");
        let described = soak.described(reached.unwrap(), Duration::from_secs(4));
        assert!(described.ends_with("--from 138 --seeds 162 --without deduplication"), "{described}");
    }

    #[test]
    fn where_nothing_is_done_yet_it_goes_on_at_its_beginning() {
        let project = Project::find().unwrap();
        let soak = Soak { project: &project, from: 100, seeds: u64::MAX - 100, without: None };
        let described = soak.described(soak.begin().reached, Duration::from_secs(4));
        let rest = u64::MAX - 100;
        assert_eq!(
            described,
            format!(
                "0 of {rest} seeds, 0/s, 0 violations; \
                 to go on from here: cargo xtask sim --soak --from 100 --seeds {rest}"
            )
        );
    }

    /// Runs a soak that is stopped. Returns its record and its error. A shell that signals this process stands for
    /// the tests.
    fn stopped(without: Option<&str>) -> (Option<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { root: folder.path().to_owned(), build: Build::Dev };
        fs::create_dir_all(folder.path().join("infra/proof")).unwrap();
        let soak = Soak { project: &project, from: 100, seeds: 200, without };
        let mut tests = Command::new("sh");
        tests.args(["-c", "echo 'soak 40 138 0'; kill -TERM $PPID; sleep 60"]);
        let begun = Instant::now();
        let error = soak.run(tests).unwrap_err().to_string();
        assert!(begun.elapsed() < Duration::from_secs(30), "the tests were not stopped");
        (fs::read_to_string(folder.path().join(RECORD)).ok(), error)
    }

    /// Only one test, because a signal reaches every soak of this process.
    #[test]
    fn a_soak_that_is_stopped_records_what_was_done_unless_a_condition_is_taken_out() {
        let (record, error) = stopped(None);
        assert!(record.is_some_and(|record| record.contains(" | 100 | 38 | 0 | ")));
        assert_eq!(error, "stopped before its end, after 0 violations");
        assert_eq!(stopped(Some("cursor-condition")).0, None);
    }
}
