//! The progress of a conversion.

use longshore::telemetry;
use longshore_domain::job::{Job, Preparation, SourceFile, Transition};
use longshore_domain::ports::{Files, MultipartFiles, PortResult, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use crate::preparer::Preparer;

/// Time between two records of the progress, in milliseconds. Each costs a write.
const PROGRESS_MS: i64 = 3_000;

/// The progress of a conversion.
pub(crate) struct Progress<'a, 'b, S, Q, F> {
    preparer: &'a Preparer<'b, S, Q, F>,
    job: &'a Job,
    file: &'a SourceFile,
    /// Bytes that were read. Some are read twice.
    pub(crate) read_bytes: u64,
    began: Timestamp,
    recorded: Option<Timestamp>,
}

impl<'a, 'b, S: Store, Q: Queues, F: Files + MultipartFiles> Progress<'a, 'b, S, Q, F> {
    pub(crate) fn new(preparer: &'a Preparer<'b, S, Q, F>, job: &'a Job, file: &'a SourceFile) -> Self {
        Self { preparer, job, file, read_bytes: 0, began: (preparer.clock)(), recorded: None }
    }

    /// Returns the time since the beginning.
    pub(crate) fn elapsed_ms(&self) -> i64 {
        (self.preparer.clock)().millis_since(self.began)
    }

    /// Records the progress at the beginning and every few seconds. Returns false if the job is no longer to be prepared. A
    /// table that is throttled does not end the conversion.
    pub(crate) async fn record(&mut self) -> bool {
        let now = (self.preparer.clock)();
        if self.recorded.is_some_and(|recorded| now.millis_since(recorded) < PROGRESS_MS) {
            return true;
        }
        self.recorded = Some(now);
        let preparation = Preparation::after_reading(self.read_bytes, self.file);
        let recorded = self.preparer.ports.store.record_preparation(self.job, self.file, preparation, now).await;
        let is_wanted = match recorded {
            Ok(Transition::Made(_)) => Ok(true),
            // Another preparation may have read more. This one goes on, because that one may be dead.
            Ok(Transition::Refused) => self.is_wanted().await,
            Err(error) => Err(error),
        };
        is_wanted.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %self.job.job_id, error, "cannot record the progress of a preparation");
            true
        })
    }

    /// Returns true if the job is still to be prepared.
    pub(crate) async fn is_wanted(&self) -> PortResult<bool> {
        let job = self.preparer.ports.store.job(self.job.job_id).await?;
        let has_file = |job: &Job| job.source == self.job.source && job.retry.selection == self.job.retry.selection;
        Ok(job.is_some_and(|job| job.can_be_prepared(self.job.generation) && has_file(&job)))
    }
}
