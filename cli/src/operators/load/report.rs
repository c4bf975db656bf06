//! The result of a run: a table, JSON, and files with the distributions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde_json::{Value, json};

use super::latencies::{Latencies, QUANTILES};
use super::tally::Tally;
use crate::output::exit::Exit;
use crate::output::{documents, table};
use crate::output::{duration, printable};

/// The result of a run.
pub(super) struct Report<'a> {
    /// Unique name of the run.
    pub(super) run: &'a str,
    pub(super) tally: &'a Tally,
    /// Time from the start to the end of the last job.
    pub(super) took: Duration,
    /// True if the run was stopped.
    pub(super) is_interrupted: bool,
}

impl Report<'_> {
    /// Prints the report for people.
    pub(super) fn print(&self) {
        println!("{}", printable(&self.text()));
    }

    /// Prints the report as JSON.
    pub(super) fn print_json(&self) -> Result<()> {
        documents::print(&self.document())
    }

    /// Writes a file with each distribution.
    pub(super) fn write_files(&self, path: &Path) -> Result<()> {
        for (name, latencies) in self.latencies() {
            let file = named(path, name);
            fs::write(&file, latencies.percentile_file()?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }

    /// Returns the exit code.
    pub(super) fn exit(&self) -> Exit {
        match (self.is_interrupted, self.tally.jobs.is_success()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Success,
            (false, false) => Exit::Failed,
        }
    }

    /// Returns the histograms, with the names that they have in files and in JSON.
    fn latencies(&self) -> [(&'static str, &Latencies); 3] {
        let tally = self.tally;
        [("accepted", &tally.accepted), ("first-progress", &tally.first_progress), ("end", &tally.end)]
    }

    fn rows_per_second(&self) -> f64 {
        let seconds = self.took.as_secs_f64();
        if seconds > 0.0 { self.tally.rows as f64 / seconds } else { 0.0 }
    }

    fn text(&self) -> String {
        let (tally, jobs) = (self.tally, self.tally.jobs);
        let mut lines = vec![format!(
            "{} jobs in {:.1} s, {} rows, {} rows/s",
            HumanCount(jobs.all()),
            self.took.as_secs_f64(),
            HumanCount(tally.rows),
            HumanCount(self.rows_per_second() as u64),
        )];
        for (count, meaning) in [
            (jobs.exact, "completed, with exactly the expected counts"),
            (jobs.wrong, "completed, with wrong counts"),
            (jobs.ended, "failed or canceled"),
            (jobs.refused, "not created, or its status could not be read"),
            (jobs.interrupted, "not finished"),
        ] {
            if count > 0 {
                lines.push(format!("  {} {meaning}", HumanCount(count)));
            }
        }
        if tally.late > 0 {
            lines.push(format!(
                "  {} started late, because all workers were busy; the delay is part of their latencies",
                HumanCount(tally.late)
            ));
        }
        lines.push(format!("\n{}", self.table().trim_end()));
        if !tally.errors.is_empty() {
            let rows = tally.errors.iter().map(|(kind, count)| [kind.clone(), HumanCount(*count).to_string()]);
            lines.push(format!("\n{}", table::render(["refused or failed", "times"], rows).trim_end()));
        }
        if !tally.messages.is_empty() {
            lines.push(format!("\n{}", tally.messages.join("\n")));
        }
        lines.join("\n")
    }

    fn table(&self) -> String {
        let [q1, q2, q3, q4] = QUANTILES.map(|(name, _)| name);
        let rows = self.latencies().map(|(name, latencies)| {
            let cells = match latencies.summary() {
                Some(summary) => summary.map(|millis| duration(Duration::from_secs_f64(millis / 1_000.0))),
                None => ["-"; QUANTILES.len() + 1].map(str::to_owned),
            };
            let [c1, c2, c3, c4, max] = cells;
            [name.replace('-', " "), c1, c2, c3, c4, max]
        });
        table::render(["time until", q1, q2, q3, q4, "max"], rows)
    }

    /// Returns the document. Members are only added to it.
    fn document(&self) -> Value {
        let jobs = self.tally.jobs;
        let mut latencies = json!({});
        for (name, histogram) in self.latencies() {
            let name = if name == "first-progress" { "firstProgress" } else { name };
            latencies[name] = histogram.document();
        }
        json!({
            "run": self.run,
            "interrupted": self.is_interrupted,
            "durationSeconds": self.took.as_secs_f64(),
            "rows": self.tally.rows,
            "rowsPerSecond": self.rows_per_second(),
            "jobs": {
                "all": jobs.all(),
                "exact": jobs.exact,
                "wrong": jobs.wrong,
                "failedOrCanceled": jobs.ended,
                "refused": jobs.refused,
                "unfinished": jobs.interrupted,
                "late": self.tally.late,
            },
            "latenciesMs": latencies,
            "errors": self.tally.errors,
            "messages": self.tally.messages,
        })
    }
}

/// Returns the path with a name before its extension.
fn named(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or_else(String::new, |extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{name}{extension}"))
}

#[cfg(test)]
mod tests {
    use super::super::outcome::JobVerdict;
    use super::super::tally::tests::sample;
    use super::*;

    fn tally(outcomes: impl IntoIterator<Item = JobVerdict>) -> Tally {
        let mut tally = Tally::new().unwrap();
        outcomes.into_iter().for_each(|outcome| tally.add(sample(outcome)));
        tally
    }

    fn report(tally: &Tally, is_interrupted: bool) -> Report<'_> {
        Report { run: "load-1", tally, took: Duration::from_secs(2), is_interrupted }
    }

    #[test]
    fn the_table_has_a_row_for_each_latency() {
        let tally = tally([JobVerdict::Exact, JobVerdict::Exact]);
        let text = report(&tally, false).text();
        assert!(text.starts_with("2 jobs in 2.0 s, 20 rows, 10 rows/s\n  2 completed, with exactly"), "{text}");
        let row = text.lines().find(|line| line.starts_with("first progress")).unwrap();
        assert!(row.contains("1.00 s"), "{row}");
        assert!(text.contains("rate-limited") && text.contains("p99.9"), "{text}");
    }

    #[test]
    fn a_run_without_jobs_has_no_latencies() {
        let tally = tally([]);
        let report = report(&tally, true);
        assert!(report.text().contains("\nend "), "{}", report.text());
        assert_eq!(report.document()["latenciesMs"]["end"], json!({ "count": 0 }));
        assert_eq!(report.exit(), Exit::Interrupted);
    }

    #[test]
    fn one_wrong_job_is_a_failure() {
        let exit = |outcomes: Vec<JobVerdict>| report(&tally(outcomes), false).exit();
        assert_eq!(exit(vec![JobVerdict::Exact]), Exit::Success);
        for outcome in
            [JobVerdict::Wrong("w".to_owned()), JobVerdict::Ended("f".to_owned()), JobVerdict::Refused("r".to_owned())]
        {
            assert_eq!(exit(vec![JobVerdict::Exact, outcome]), Exit::Failed);
        }
    }

    #[test]
    fn the_files_are_beside_each_other() -> Result<()> {
        let folder = tempfile::tempdir()?;
        report(&tally([JobVerdict::Exact]), false).write_files(&folder.path().join("run.1.hgrm"))?;
        let mut names: Vec<_> = fs::read_dir(folder.path())?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_>>()?;
        names.sort();
        assert_eq!(names, ["run.1-accepted.hgrm", "run.1-end.hgrm", "run.1-first-progress.hgrm"]);
        Ok(())
    }
}
