//! The pauses of operators, read once in a sweep: a job that is paused is neither lost nor dead.

use longshore_domain::job::Job;
use longshore_domain::pause::{Pause, pause_of};
use longshore_domain::ports::{Pauses, PortResult};
use longshore_domain::timestamp::Timestamp;

/// The pauses, once they are read.
#[derive(Debug, Default)]
pub(crate) struct ReadPauses(Option<Vec<Pause>>);

impl ReadPauses {
    /// Returns true if an operator has paused the job.
    ///
    /// # Errors
    /// If the pauses cannot be read: then the job is neither pushed nor stopped, and the next job reads them again.
    pub(crate) async fn is_paused(&mut self, store: &impl Pauses, job: &Job, now: Timestamp) -> PortResult<bool> {
        let pauses = match self.0.take() {
            Some(pauses) => pauses,
            None => store.pauses().await?,
        };
        Ok(pause_of(self.0.insert(pauses), job, now).is_some())
    }
}
