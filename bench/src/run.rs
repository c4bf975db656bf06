//! Measures a job from upload to result.
//!
//! The client polls every 50 ms until it sees progress, and then as often as the API asks, because polls have a cost.
//! The job ends at its `finishedAt`; client and stack have the same clock.

use crate::cases::Case;
use crate::usage::{ByFunction, Logs};
use anyhow::{Context, Result, bail, ensure};
use local_cloud::state::State;
use longshore_cli::api::{Api, ImportOptions, JobResponse, LocalFile, Mode};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Poll interval before the first progress.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Timeout of a run.
const RUN_TIMEOUT: Duration = Duration::from_secs(1_800);

const DAY_S: f64 = 86_400.0;

/// A file, and the options of its import.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) rows: u64,
    pub(crate) bad_rows: u64,
    pub(crate) size_bytes: u64,
    pub(crate) mode: Mode,
    pub(crate) dataset: String,
}

/// The measurements of one run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) rows: u64,
    /// Records that the job has written, each by one statement.
    pub(crate) written: u64,
    pub(crate) size_bytes: u64,
    /// Time from the create call to `finishedAt`.
    pub(crate) seconds: f64,
    /// Time from the create call to the first response with progress.
    pub(crate) first_progress_s: f64,
    pub(crate) polls: u64,
    /// Dollars that the job has cost by its own document.
    pub(crate) stated_cost: Option<f64>,
    pub(crate) functions: ByFunction,
}

impl Run {
    pub(crate) fn rows_per_second(&self) -> f64 {
        self.rows as f64 / self.seconds
    }

    pub(crate) fn invocations(&self, function: &str) -> u64 {
        self.functions.get(function).map_or(0, |usage| usage.invocations)
    }

    /// Returns the number of chunks. Each chunk is one invocation, because the batch size of the mapping is 1.
    pub(crate) fn chunks(&self) -> u64 {
        self.invocations("process-item")
    }

    pub(crate) fn calls_per_chunk(&self) -> f64 {
        let calls = self.functions.get("process-item").map_or(0, crate::usage::Usage::all_calls);
        calls as f64 / self.chunks().max(1) as f64
    }

    /// Returns the number of calls to the API: the polls, and one call each to create the upload, to create the job and
    /// to read the result.
    pub(crate) fn api_calls(&self) -> u64 {
        self.polls + 3
    }
}

/// The runs of a case.
pub(crate) struct CaseResult {
    pub(crate) case: Case,
    pub(crate) runs: Vec<Run>,
    /// Load average before the runs.
    pub(crate) load: Option<f64>,
}

impl CaseResult {
    /// Returns the run with the median duration.
    pub(crate) fn median(&self) -> &Run {
        self.median_by(|run| run.seconds)
    }

    /// Returns the run with the median of this value.
    pub(crate) fn median_by(&self, key: fn(&Run) -> f64) -> &Run {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| key(a).total_cmp(&key(b)));
        runs[runs.len() / 2]
    }

    /// Returns the peak memory of all runs, by function.
    pub(crate) fn peak_kib(&self) -> BTreeMap<&str, u64> {
        let mut peaks = BTreeMap::new();
        for (function, usage) in self.runs.iter().flat_map(|run| &run.functions) {
            let peak = peaks.entry(function.as_str()).or_default();
            *peak = usage.max_rss_kib.max(*peak);
        }
        peaks
    }
}

/// Runs a job. Returns its measurements, with the usage of these functions.
pub(crate) fn run<'f>(
    api: &Api,
    input: &Input,
    state: &State,
    functions: impl IntoIterator<Item = &'f String>,
) -> Result<Run> {
    let logs = Logs::from_now(state)?;
    let file = LocalFile::open(&input.path)?.named(&name(&input.path)?);
    let guid = api.upload(&file)?;
    let options = ImportOptions {
        dataset: input.dataset.clone(),
        key: "id".to_owned(),
        schema: Some(super::rows::schema()),
        mode: input.mode,
    };
    let (seconds, job) = follow(api, || api.create_job(&guid, options, "normal"))?;
    check(input, &job)?;
    api.output(&job.job_id)?;
    let functions = logs.usage(functions)?;
    Ok(Run {
        rows: input.rows,
        // The dataset is new, so each row is a single statement.
        written: if input.mode == Mode::Validate { 0 } else { input.rows },
        size_bytes: input.size_bytes,
        seconds,
        first_progress_s: job.first_progress_s.min(seconds),
        polls: job.polls,
        stated_cost: job.stated_cost,
        functions,
    })
}

/// A completed job.
pub(crate) struct CompletedJob {
    pub(crate) job_id: String,
    pub(crate) succeeded: u64,
    failed: u64,
    finished_at: String,
    pub(crate) first_progress_s: f64,
    pub(crate) polls: u64,
    pub(crate) stated_cost: Option<f64>,
}

/// Creates a job and waits until it has completed. Returns the seconds from the create call to `finishedAt`.
pub(crate) fn follow(api: &Api, create: impl FnOnce() -> Result<String>) -> Result<(f64, CompletedJob)> {
    let (started_at, start_s) = (Instant::now(), second_of_day_now()?);
    let url = create()?;
    let job = wait_until_completed(api, &url, started_at)?;
    Ok(((second_of_day(&job.finished_at)? - start_s).rem_euclid(DAY_S), job))
}

fn wait_until_completed(api: &Api, url: &str, started_at: Instant) -> Result<CompletedJob> {
    let (mut first_progress_s, mut polls) = (None, 0);
    loop {
        ensure!(started_at.elapsed() < RUN_TIMEOUT, "the job has not ended after {} s", RUN_TIMEOUT.as_secs());
        let JobResponse { job, retry_after } = api.poll(url)?;
        polls += 1;
        if job.item_progress > 0 && first_progress_s.is_none() {
            first_progress_s = Some(started_at.elapsed().as_secs_f64());
        }
        match job.status.as_str() {
            "completed" => {
                return Ok(CompletedJob {
                    job_id: job.job_id,
                    succeeded: job.counts.succeeded,
                    failed: job.counts.failed,
                    finished_at: job.finished_at.context("a completed job has no finishedAt")?,
                    first_progress_s: first_progress_s.unwrap_or(f64::MAX),
                    polls,
                    stated_cost: job.cost.map(|cost| cost.total),
                });
            }
            "failed" | "canceled" => bail!("the job ended with status {}: {:?}", job.status, job.error),
            _ => sleep(if first_progress_s.is_none() { FIRST_POLL_INTERVAL } else { retry_after }),
        }
    }
}

/// Verifies the counts.
fn check(input: &Input, job: &CompletedJob) -> Result<()> {
    let expected = (input.rows - input.bad_rows, input.bad_rows);
    let actual = (job.succeeded, job.failed);
    ensure!(actual == expected, "(succeeded, failed) is {actual:?} instead of {expected:?}");
    Ok(())
}

fn name(path: &Path) -> Result<String> {
    Ok(path.file_name().context("the file has no name")?.to_string_lossy().into_owned())
}

fn second_of_day_now() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64().rem_euclid(DAY_S))
}

/// Returns the seconds since midnight of a time such as `2026-11-21T21:37:14.205Z`.
fn second_of_day(time: &str) -> Result<f64> {
    let parse = || {
        let time = time.split_once('T')?.1.strip_suffix('Z')?;
        let mut parts = time.split(':').map(|part| part.parse::<f64>().ok());
        Some(parts.next()?? * 3600.0 + parts.next()?? * 60.0 + parts.next()??)
    };
    parse().with_context(|| format!("{time} is not a time in UTC"))
}

#[cfg(test)]
mod tests {
    use super::second_of_day;

    #[test]
    fn a_time_is_parsed_with_its_fraction() -> anyhow::Result<()> {
        assert!((second_of_day("2026-11-21T01:02:03.5Z")? - 3723.5).abs() < 1e-9);
        assert!(second_of_day("01:02:03").is_err());
        Ok(())
    }
}
