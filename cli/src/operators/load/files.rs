//! The files of the jobs of a run. Each is written shortly before it is sent, and few at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::content::{JobFile, Workload};
use super::mix::JobSpec;

/// Time between the start of a file and the start of its job, besides that of the rows.
const LEAD: Duration = Duration::from_secs(2);

/// Time in which a row is written, at the slowest.
const ROW: Duration = Duration::from_micros(1);

/// Returns the time in which the file of a job with this number of rows is written.
pub(super) fn preparation(rows: u64) -> Duration {
    LEAD + ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// The files of the jobs of a run.
pub(super) struct Files<'a> {
    workload: &'a Workload,
    folder: &'a Path,
    /// Set if the run shall end.
    stop: &'a AtomicBool,
    writers: Semaphore,
    /// The files that are equal for all jobs of their kind.
    shared: Mutex<BTreeMap<JobSpec, Arc<JobFile>>>,
}

impl<'a> Files<'a> {
    /// Creates the files of a run. At most one per CPU is written at once.
    pub(super) fn new(workload: &'a Workload, folder: &'a Path, stop: &'a AtomicBool) -> Self {
        let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get());
        Self { workload, folder, stop, writers: Semaphore::new(cpus), shared: Mutex::default() }
    }

    /// Returns the file of a job; `None` if the run is stopped.
    pub(super) fn file_of(&self, number: u64, spec: &JobSpec) -> Result<Option<Arc<JobFile>>> {
        if !self.workload.is_equal_for_all(spec) {
            return self.write(number, spec);
        }
        // Locked while the file is written, so that it is written once.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = shared.get(spec) {
            return Ok(Some(Arc::clone(file)));
        }
        let file = self.write(number, spec)?;
        shared.extend(file.iter().map(|file| (spec.clone(), Arc::clone(file))));
        Ok(file)
    }

    fn write(&self, number: u64, spec: &JobSpec) -> Result<Option<Arc<JobFile>>> {
        let _permit = self.writers.acquire();
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(Some(Arc::new(self.workload.file_of(number, spec, self.folder)?)))
    }
}

/// A concurrency limit.
struct Semaphore {
    free: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits), released: Condvar::new() }
    }

    /// Waits for a permit.
    fn acquire(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.released.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit(self)
    }
}

/// A permit, which is released when it is dropped.
struct Permit<'a>(&'a Semaphore);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn spec(rows: u64) -> JobSpec {
        JobSpec { job_type: "mail".to_owned(), rows }
    }

    fn workload(template: &str) -> Workload {
        Workload { items: [("mail".to_owned(), template.to_owned())].into(), ..Workload::default() }
    }

    #[test]
    fn equal_files_are_written_once_and_others_for_each_job() -> Result<()> {
        let (folder, stop) = (tempfile::tempdir()?, AtomicBool::new(false));
        for (template, is_shared) in [(r#"{"n":{n}}"#, true), (r#"{"job":{job}}"#, false)] {
            let workload = workload(template);
            let files = Files::new(&workload, folder.path(), &stop);
            let file = |number, rows| -> Result<_> { Ok(files.file_of(number, &spec(rows))?.unwrap()) };
            assert_eq!(Arc::ptr_eq(&file(1, 5)?, &file(2, 5)?), is_shared, "{template}");
            assert_eq!(file(3, 6)?.expected.rows, 6, "another size is another file");
        }
        Ok(())
    }

    #[test]
    fn a_run_that_is_stopped_writes_no_file() -> Result<()> {
        let (folder, stop) = (tempfile::tempdir()?, AtomicBool::new(true));
        let workload = workload(r#"{"n":{n}}"#);
        assert!(Files::new(&workload, folder.path(), &stop).file_of(1, &spec(5))?.is_none());
        Ok(())
    }

    #[test]
    fn at_most_as_many_writers_as_permits_are_active() {
        let (semaphore, active, most) = (Semaphore::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let _permit = semaphore.acquire();
            most.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            active.fetch_sub(1, Ordering::SeqCst);
        };
        thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
        assert!((1..=2).contains(&most.into_inner()));
    }

    #[test]
    fn large_files_are_started_earlier() {
        assert_eq!(preparation(0), LEAD);
        assert_eq!(preparation(10_000_000), LEAD + Duration::from_secs(10));
    }
}
