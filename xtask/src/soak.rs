//! A soak: a very long run of seeds, with progress, a command to continue it, and a record of the results.
//!
//! A violation does not stop a soak. At Ctrl-C, SIGTERM or a closed terminal, the test processes are stopped; this
//! process continues and reports the results. The record is a row of a table in `infra/proof`. It is rewritten every
//! minute, so that an interrupted soak is recorded too.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{HumanDuration, ProgressBar};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use bench::machine;
use local_cloud::process::terminate_group;
use local_cloud::project::Project;
use longshore_cli::progress;

/// Path of the record in the checkout.
const RECORD: &str = "infra/proof/soaks.md";

const HEADER: &str = "# Soaks

Runs of the simulation over very many seeds, by `cargo xtask sim --soak`: see [README.md](README.md).

| date | commit | from | seeds | violations | seconds | seeds/s |
| ---- | ------ | ---- | ----- | ---------- | ------- | ------- |
";

/// Interval at which progress is printed and recorded.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Progress as the tests print it.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct SoakProgress {
    /// Number of completed seeds.
    done: u64,
    /// The first seed that is not completed.
    next: u64,
    violations: u64,
}

impl SoakProgress {
    /// Parses `soak DONE NEXT VIOLATIONS`. Returns `None` for any other line.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("soak ")?.split(' ').map(str::parse);
        let mut number = || words.next()?.ok();
        Some(Self { done: number()?, next: number()?, violations: number()? })
    }
}

/// A range of seeds.
pub(crate) struct Soak<'a> {
    pub(crate) project: &'a Project,
    pub(crate) from: u64,
    pub(crate) seeds: u64,
    /// The removed condition or layer. Such a soak has expected violations and is not recorded.
    pub(crate) without: Option<&'a str>,
}

/// The state of a running soak.
struct RunningSoak<'a> {
    soak: &'a Soak<'a>,
    bar: ProgressBar,
    started_at: Instant,
    reported_at: Instant,
    progress: SoakProgress,
    /// The record without this soak's row.
    record: String,
    stamp: (String, String),
}

impl Soak<'_> {
    /// Runs the tests and shows their progress. A signal stops the tests; the progress until then is printed and
    /// recorded.
    pub(crate) fn run(&self, mut tests: Command) -> Result<()> {
        let mut running = self.begin();
        // Before the tests start, because their process group would outlive this process.
        let signals = SignalHandler::new()?;
        let mut child = tests.stdout(Stdio::piped()).process_group(0).spawn().context("cannot run cargo")?;
        let stopped = signals.stop_on_signal(child.id());
        let output = child.stdout.take().context("the tests have no output")?;
        for line in BufReader::new(output).lines() {
            running.read_line(&line?)?;
        }
        running.bar.finish_and_clear();
        let passed = child.wait()?.success();
        running.report()?;
        let violations = running.progress.violations;
        match (passed, stopped.is_set()) {
            (true, _) => Ok(()),
            (false, true) => bail!("stopped before the end, with {violations} violations"),
            (false, false) if violations == 0 => bail!("the simulation itself failed: see above"),
            (false, false) => bail!("{violations} seeds have violations: see above"),
        }
    }

    fn begin(&self) -> RunningSoak<'_> {
        let bar = ProgressBar::new(self.seeds);
        let template = "{wide_bar} {pos} of {len} seeds ({percent} %), {per_sec}, {eta} left{msg}";
        bar.set_style(progress::style(template));
        RunningSoak {
            soak: self,
            bar,
            started_at: Instant::now(),
            reported_at: Instant::now(),
            progress: SoakProgress { next: self.from, ..SoakProgress::default() },
            record: fs::read_to_string(self.project.root.join(RECORD)).unwrap_or_else(|_| HEADER.to_owned()),
            stamp: machine::stamp(self.project, RECORD),
        }
    }

    /// Describes the progress, with the command to continue unless all seeds are completed.
    fn describe(&self, progress: SoakProgress, time: Duration) -> String {
        let SoakProgress { done, next, violations } = progress;
        let rate = done as f64 / time.as_secs_f64().max(0.001);
        let mut text = format!("{done} of {} seeds, {rate:.0}/s, {violations} violations", self.seeds);
        let left = self.seeds.saturating_sub(done);
        if left == 0 {
            return text;
        }
        if let Ok(time_left) = Duration::try_from_secs_f64(left as f64 / rate) {
            text += &format!(", {} left", HumanDuration(time_left));
        }
        let remaining = (self.from + self.seeds).saturating_sub(next);
        let without = self.without.map(|name| format!(" --without {name}")).unwrap_or_default();
        format!("{text}; to continue: cargo xtask sim --soak --from {next} --seeds {remaining}{without}")
    }

    fn row(&self, progress: SoakProgress, time: Duration, stamp: &(String, String)) -> String {
        let (date, commit) = stamp;
        // Completed seeds after the first one that is not completed are not recorded, because they run again.
        let (seeds, seconds) = (progress.next.saturating_sub(self.from), time.as_secs());
        let rate = progress.done / seconds.max(1);
        format!("| {date} | {commit} | {} | {seeds} | {} | {seconds} | {rate} |\n", self.from, progress.violations)
    }
}

impl RunningSoak<'_> {
    /// Parses a line of the tests' output. Prints and records the progress every minute.
    fn read_line(&mut self, line: &str) -> Result<()> {
        let Some(progress) = SoakProgress::parse(line) else {
            if line.starts_with("seed ") {
                self.bar.suspend(|| println!("{line}"));
            }
            return Ok(());
        };
        self.progress = progress;
        self.bar.set_position(progress.done);
        self.bar.set_message(format!(", {} violations", progress.violations));
        if self.reported_at.elapsed() >= REPORT_INTERVAL {
            self.reported_at = Instant::now();
            self.report()?;
        }
        Ok(())
    }

    /// Prints and records the progress.
    fn report(&self) -> Result<()> {
        let time = self.started_at.elapsed();
        self.bar.suspend(|| println!("{}", self.soak.describe(self.progress, time)));
        if self.progress.next == self.soak.from || self.soak.without.is_some() {
            return Ok(());
        }
        let path = self.soak.project.root.join(RECORD);
        let row = self.soak.row(self.progress, time, &self.stamp);
        fs::write(&path, format!("{}{row}", self.record)).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Catches the signals from its construction on.
struct SignalHandler(Signals);

/// A flag that is set by the first signal.
struct Stopped(Arc<AtomicBool>);

impl SignalHandler {
    fn new() -> Result<Self> {
        Ok(Self(Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot catch signals")?))
    }

    /// Terminates the process group at each signal, including signals since construction. Ctrl-C itself does not reach
    /// the group.
    fn stop_on_signal(mut self, group: u32) -> Stopped {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        thread::spawn(move || {
            for _ in self.0.forever() {
                flag.store(true, Ordering::Relaxed);
                // If this fails, the group ends once its output is closed.
                let _ = terminate_group(group);
            }
        });
        Stopped(stopped)
    }
}

impl Stopped {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_cloud::project::Build;

    #[test]
    fn a_soak_continues_at_the_first_seed_that_is_not_completed() {
        let progress = SoakProgress::parse("soak 40 138 1");
        assert_eq!(progress, Some(SoakProgress { done: 40, next: 138, violations: 1 }));
        assert_eq!(SoakProgress::parse("seed 7: something"), None);
        let project = Project::find().unwrap();
        let mut soak = Soak { project: &project, from: 100, seeds: 200, without: None };
        let text = soak.describe(progress.unwrap(), Duration::from_secs(4));
        assert_eq!(
            text,
            "40 of 200 seeds, 10/s, 1 violations, 16 seconds left; \
             to continue: cargo xtask sim --soak --from 138 --seeds 162"
        );
        let stamp = ("2026-11-22 22:00 UTC".to_owned(), "abc".to_owned());
        let row = soak.row(progress.unwrap(), Duration::from_secs(4), &stamp);
        assert_eq!(row, "| 2026-11-22 22:00 UTC | abc | 100 | 38 | 1 | 4 | 10 |\n");
        soak.without = Some("deduplication");
        let text = soak.describe(progress.unwrap(), Duration::from_secs(4));
        assert!(text.ends_with("--from 138 --seeds 162 --without deduplication"), "{text}");
    }

    #[test]
    fn a_soak_without_completed_seeds_continues_at_its_first_seed() {
        let project = Project::find().unwrap();
        let soak = Soak { project: &project, from: 100, seeds: u64::MAX - 100, without: None };
        let text = soak.describe(soak.begin().progress, Duration::from_secs(4));
        let seeds = u64::MAX - 100;
        assert_eq!(
            text,
            format!(
                "0 of {seeds} seeds, 0/s, 0 violations; \
                 to continue: cargo xtask sim --soak --from 100 --seeds {seeds}"
            )
        );
    }

    /// Runs a soak that is stopped. Returns its record and its error. The tests are a shell that signals this process.
    fn run_stopped_soak(without: Option<&str>) -> (Option<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { root: folder.path().to_owned(), build: Build::Dev };
        fs::create_dir_all(folder.path().join("infra/proof")).unwrap();
        let soak = Soak { project: &project, from: 100, seeds: 200, without };
        let mut tests = Command::new("sh");
        tests.args(["-c", "echo 'soak 40 138 0'; kill -TERM $PPID; sleep 60"]);
        let started_at = Instant::now();
        let error = soak.run(tests).unwrap_err().to_string();
        assert!(started_at.elapsed() < Duration::from_secs(30), "the tests were not stopped");
        (fs::read_to_string(folder.path().join(RECORD)).ok(), error)
    }

    /// These are cases of one test, because a signal reaches every soak of the process.
    #[test]
    fn a_stopped_soak_is_recorded_unless_a_condition_is_removed() {
        let (record, error) = run_stopped_soak(None);
        assert!(record.is_some_and(|record| record.contains(" | 100 | 38 | 0 | ")));
        assert_eq!(error, "stopped before the end, with 0 violations");
        assert_eq!(run_stopped_soak(Some("cursor-condition")).0, None);
    }
}
