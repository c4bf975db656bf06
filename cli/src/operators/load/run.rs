//! The workers of a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanCount, ProgressBar};

use super::arrivals::{Arrivals, Pace};
use super::cleanup::Cleanup;
use super::content::Workload;
use super::files::Files;
use super::job::{Job, Sample};
use super::mix::Mix;
use super::tally::Tally;
use super::tenant::Tenant;
use crate::output::progress::style;

/// Longest time in which a stop is not noticed.
const SLICE: Duration = Duration::from_millis(100);

/// A run.
pub(super) struct Run<'a> {
    pub(super) arrivals: Arrivals,
    pub(super) mix: &'a Mix,
    pub(super) workload: &'a Workload,
    pub(super) files: Files<'a>,
    pub(super) tenants: &'a [Tenant],
    /// Set if the run shall end.
    pub(super) stop: &'a AtomicBool,
    /// Start of the run. That of an open loop is in the future, so that the files of its first jobs can be written.
    pub(super) start: Instant,
    pub(super) cleanup: &'a Mutex<Cleanup>,
}

impl Run<'_> {
    /// Runs the jobs with this number of workers. A worker has one job at a time.
    pub(super) fn execute(&self, workers: usize) -> Result<Tally> {
        let (tally, next) = (Mutex::new(Tally::new()?), Mutex::new(0));
        let work = || {
            while let Some((number, time)) = self.next(&next) {
                let sample = self.job(number, time);
                tally.lock().unwrap_or_else(PoisonError::into_inner).add(sample);
            }
        };
        let bar = self.arrivals.expected().map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_style(style("  {bar:32} {pos} of {len} jobs  {msg}").progress_chars("█▌░"));
        thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                sleep(SLICE);
                let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                bar.set_position(tally.jobs.all());
                bar.set_message(format!("{} rows", HumanCount(tally.rows)));
            }
        });
        bar.finish_and_clear();
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the next job, with its time from the start; `None` if there is none, or the run is stopped.
    fn next(&self, next: &Mutex<u64>) -> Option<(u64, Duration)> {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        let time = self.arrivals.time_of(*next, self.start.elapsed()).filter(|_| !self.is_stopped())?;
        let number = *next;
        *next += 1;
        Some((number, time))
    }

    /// Runs a job. The tenants take turns, and each of them has the whole mix.
    fn job(&self, number: u64, time: Duration) -> Sample {
        let tenants = self.tenants.len() as u64;
        let spec = self.mix.spec(number / tenants);
        Job { run: self, number, tenant: (number % tenants) as usize, spec }.run(time)
    }

    /// Returns the moment from which the latencies of a job count: in an open loop its own time, even if all workers
    /// were busy then.
    pub(super) fn begin(&self, time: Duration) -> Instant {
        match self.arrivals.pace {
            Pace::Open(_) => self.start + time,
            Pace::Closed => Instant::now(),
        }
    }

    /// Waits until a duration before a time from the start. Returns false if the run is stopped.
    pub(super) fn sleep_until(&self, time: Duration, before: Duration) -> bool {
        let left = (self.start + time).saturating_duration_since(Instant::now());
        self.sleep(left.saturating_sub(before))
    }

    /// Waits. Returns false if the run is stopped.
    pub(super) fn sleep(&self, duration: Duration) -> bool {
        let end = Instant::now() + duration;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if self.is_stopped() || left.is_zero() {
                return !self.is_stopped();
            }
            sleep(left.min(SLICE));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Registers a job for its removal.
    pub(super) fn created(&self, tenant: usize, id: &str) -> Result<()> {
        self.cleanup.lock().unwrap_or_else(PoisonError::into_inner).created(tenant, id)
    }

    /// Notes that a job has ended.
    pub(super) fn ended(&self, tenant: usize, id: &str) -> Result<()> {
        self.cleanup.lock().unwrap_or_else(PoisonError::into_inner).ended(tenant, id)
    }
}
