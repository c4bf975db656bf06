//! The pauses of operators, read once in a sweep: a job that they hold is neither lost nor dead.

use longshore_domain::job::Job;
use longshore_domain::pause::{Pause, hold};
use longshore_domain::ports::{Pauses, PortResult};
use longshore_domain::timestamp::Timestamp;

/// The pauses, once they are read.
#[derive(Debug, Default)]
pub(crate) struct ReadPauses(Option<Vec<Pause>>);

impl ReadPauses {
    /// Returns true if a pause holds the job.
    ///
    /// # Errors
    /// If the pauses cannot be read: then the job is neither pushed nor stopped, and the next job reads them again.
    pub(crate) async fn hold(&mut self, store: &impl Pauses, job: &Job, now: Timestamp) -> PortResult<bool> {
        let pauses = match self.0.take() {
            Some(pauses) => pauses,
            None => store.pauses().await?,
        };
        Ok(hold(self.0.insert(pauses), job, now).is_some())
    }
}
