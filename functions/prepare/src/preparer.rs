//! The preparation: find the file, convert it, replace it.

use longshore::batch::Delivery;
use longshore::chunk::stop_job;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::job::{Job, SourceFile, Status, Stop, Transition};
use longshore_domain::message::CreateMessage;
use longshore_domain::pause::pause_of;
use longshore_domain::ports::{Files, MultipartFiles, PortResult, Queues, Store};
use longshore_domain::random;
use longshore_domain::timestamp::Timestamp;

use crate::attempt::{Attempt, Converted};
use crate::file::unprepared;
use crate::outcome::{PrepareEnd, PrepareError};
use crate::upload::{Upload, remove_unused};

/// The way to wait for the next step of a conversion.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Waits {
    /// As a future.
    Asynchronously,
    /// By blocking the thread, for a caller that polls by itself.
    Blocking,
}

/// Prepares the file of one job.
pub struct Preparer<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// The way to wait for the conversion.
    pub waits: Waits,
    /// Maximum size of a file, also after it is converted.
    pub max_file_bytes: u64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Preparer<'_, S, Q, F> {
    /// Processes one delivery of a message. A redelivered message is replaced by a copy, as one of a split is, so that
    /// it does not block its tenant's lane.
    ///
    /// # Errors
    /// See [`PrepareError`].
    pub async fn deliver(&self, message: &CreateMessage, delivery: Delivery) -> Result<PrepareEnd, PrepareError> {
        if let Some(copy) = message.copy_of_failed(delivery.failures) {
            let text = "a preparation has failed; its message moves to the copies lane";
            tracing::warn!(job.id = %message.job_id, failures = copy.failures, "{text}");
            self.ports.queues.send_prepare(&copy).await?;
            return Ok(PrepareEnd::Replaced);
        }
        self.prepare(message, delivery.deadline).await
    }

    async fn prepare(&self, message: &CreateMessage, deadline: Timestamp) -> Result<PrepareEnd, PrepareError> {
        let Some(job) = self.ports.store.job(message.job_id).await? else { return Ok(PrepareEnd::Absent) };
        telemetry::record_job(&job);
        if !job.can_be_prepared(message.generation) {
            return Ok(PrepareEnd::NothingToDo);
        }
        if pause_of(&self.ports.store.pauses().await?, &job, (self.clock)()).is_some() {
            if job.resends > 0 {
                self.ports.store.reset_split_resends(job.job_id, job.generation).await?;
            }
            return Ok(PrepareEnd::Paused);
        }
        let Some((file, form)) = unprepared(&self.ports.files, &job).await? else {
            // The delivery that was first may have died before it continued the split.
            self.continue_split(&job, message).await?;
            return Ok(PrepareEnd::Unneeded);
        };
        let key = SourceFile::prepared_key(&job.tenant, job.job_id, &random::nonce());
        let attempt = Attempt { preparer: self, job: &job, file: &file, form, deadline };
        match attempt.run(Upload::new(&self.ports.files, key)).await? {
            Converted::File(prepared) => self.replace(&job, message, &prepared).await,
            Converted::Stopped => Ok(PrepareEnd::NothingToDo),
            Converted::Refused(error) => {
                let stop = Stop { status: Status::Failed, error: Some(error), at: (self.clock)() };
                stop_job(self.ports, &job, &stop).await?;
                Ok(PrepareEnd::Failed)
            }
        }
    }

    /// Replaces the job's file by the prepared one, and continues the split.
    async fn replace(
        &self,
        job: &Job,
        message: &CreateMessage,
        prepared: &SourceFile,
    ) -> Result<PrepareEnd, PrepareError> {
        match self.ports.store.end_preparation(job, prepared, (self.clock)()).await? {
            Transition::Made(job) => {
                self.continue_split(&job, message).await?;
                Ok(PrepareEnd::Ended)
            }
            Transition::Refused => {
                for key in [prepared.key.clone(), prepared.row_steps_key()] {
                    remove_unused(&self.ports.files, &key).await;
                }
                Ok(PrepareEnd::NothingToDo)
            }
        }
    }

    /// Sends a message that continues the split.
    async fn continue_split(&self, job: &Job, message: &CreateMessage) -> PortResult<()> {
        let message = CreateMessage { resend: message.resend, is_prepared: true, ..CreateMessage::new(job) };
        self.ports.queues.send_create(&message).await
    }
}
