//! The preparation: find the file, convert it, replace it.

use longshore::batch::Delivery;
use longshore::chunk::stop_job;
use longshore::failures_file::CORRECTED_BYTES;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::job::{Job, JobError, Preparation, SourceFile, Status, Stop, Transition};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, MultipartFiles, PortResult, Queues, Store};
use longshore_domain::random;
use longshore_domain::records::Form;
use longshore_domain::timestamp::Timestamp;
use longshore_preparation::{Conversion, Limits, SheetChoice, Step, sheet_choice};

use crate::file::{read_range, unprepared};
use crate::outcome::{PrepareEnd, PrepareError};
use crate::upload::Upload;

/// Time between two records of the progress, in milliseconds. Each costs a write.
const PROGRESS_MS: i64 = 3_000;

/// Time after which a file is refused, in milliseconds. Another attempt would take as long.
const LONGEST_MS: i64 = 600_000;

/// How the next step of a conversion is waited for.
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
    /// How the conversion is waited for.
    pub waits: Waits,
    /// Maximum size of a file, also after it is converted.
    pub max_file_bytes: u64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// The end of a conversion.
enum Converted {
    /// The prepared file.
    File(Box<SourceFile>),
    /// The file is refused.
    Refused(JobError),
    /// The job is stopping, or another delivery was first.
    Stopped,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Preparer<'_, S, Q, F> {
    /// Processes one delivery of a message. A redelivered message is replaced by a copy, as one of a split is, so that it
    /// does not block its tenant's lane.
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
        if !job.can_be_prepared(message.generation) {
            return Ok(PrepareEnd::NothingToDo);
        }
        let Some((file, form)) = unprepared(&self.ports.files, &job).await? else {
            // The delivery that was first may have died before it continued the split.
            self.continue_split(&job, message).await?;
            return Ok(PrepareEnd::Unneeded);
        };
        let key = SourceFile::prepared_key(&job.tenant, job.job_id, &random::nonce());
        let mut upload = Upload::new(&self.ports.files, key.clone());
        let converted = self.convert(&job, &file, form, &key, &mut upload, deadline).await;
        if !matches!(converted, Ok(Converted::File(_))) {
            upload.discard().await;
        }
        match converted? {
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
                self.remove(prepared).await;
                Ok(PrepareEnd::NothingToDo)
            }
        }
    }

    /// Removes a file that no job uses, best effort: it is in the job's folder.
    async fn remove(&self, prepared: &SourceFile) {
        for key in [prepared.key.clone(), prepared.row_steps_key()] {
            if let Err(error) = self.ports.files.remove(&key).await {
                let error = telemetry::chain(&error);
                tracing::warn!(file.key = key, error, "cannot remove a file that is not used");
            }
        }
    }

    /// Sends a message that continues the split.
    async fn continue_split(&self, job: &Job, message: &CreateMessage) -> PortResult<()> {
        let message = CreateMessage { resend: message.resend, is_prepared: true, ..CreateMessage::new(job) };
        self.ports.queues.send_create(&message).await
    }

    /// Converts a file, and stores the result.
    async fn convert(
        &self,
        job: &Job,
        file: &SourceFile,
        form: Form,
        key: &str,
        upload: &mut Upload<'_, F>,
        deadline: Timestamp,
    ) -> Result<Converted, PrepareError> {
        let sheet = self.sheet(job, file).await?;
        let mut limits = Limits::default();
        limits.output_bytes = limits.output_bytes.min(self.max_file_bytes);
        if job.file() != Some(file) {
            // The splitter holds a corrected file in memory.
            limits.output_bytes = limits.output_bytes.min(CORRECTED_BYTES);
        }
        let mut progress = Progress::new(self, job, file);
        let mut conversion = Conversion::start(form, file.size_bytes, sheet, limits)?;
        let prepared = loop {
            let step = match self.waits {
                Waits::Asynchronously => conversion.next().await,
                Waits::Blocking => conversion.blocking_next(),
            };
            if !progress.record().await {
                return Ok(Converted::Stopped);
            }
            match step {
                Step::Ended(Ok(prepared)) => break prepared,
                Step::Ended(Err(error)) => {
                    let code = error.code().ok_or_else(|| PrepareError::Conversion(error.to_string()))?;
                    return Ok(Converted::Refused(JobError::new(code, error.to_string())));
                }
                _ if progress.elapsed_ms() > LONGEST_MS => return Ok(Converted::Refused(too_long(file))),
                _ if (self.clock)() > deadline => return Err(PrepareError::TimeOver),
                Step::Read(range) => {
                    let length = range.end - range.start;
                    let bytes = read_range(&self.ports.files, file, range).await?;
                    conversion.answer(bytes.ok_or(PrepareError::FileGone)?);
                    progress.read_bytes += length;
                }
                Step::Part(part) => upload.push(part).await?,
            }
        };
        if let Err(error) = prepared.check_format(file.format) {
            return Ok(Converted::Refused(error));
        }
        // The folder of a deleted job can be removed at any time.
        if !progress.is_wanted().await? {
            return Ok(Converted::Stopped);
        }
        let info = upload.finish().await?;
        if info.size_bytes != prepared.bytes {
            return Err(PrepareError::NotStored);
        }
        let prepared_file = SourceFile {
            key: key.to_owned(),
            size_bytes: info.size_bytes,
            etag: info.etag,
            original: Some(Box::new(prepared.original(file, form))),
            ..file.clone()
        };
        if prepared_file.original.as_ref().is_some_and(|original| original.has_row_gaps) {
            let steps_key = prepared_file.row_steps_key();
            self.ports.files.write(&steps_key, "application/octet-stream", prepared.row_steps).await?;
        }
        Ok(Converted::File(Box::new(prepared_file)))
    }

    /// Returns the sheet that is read of a workbook. Of a corrected file, it is the first visible one.
    async fn sheet(&self, job: &Job, file: &SourceFile) -> PortResult<SheetChoice> {
        if job.file() != Some(file) {
            return Ok(SheetChoice::FirstVisible);
        }
        let definition = self.ports.store.definition(job.job_id).await?;
        Ok(sheet_choice(definition.and_then(|definition| definition.sheet)))
    }
}

fn too_long(file: &SourceFile) -> JobError {
    let message = format!(
        "the file {:?} could not be converted within {} minutes; split it into several files, or upload it as CSV",
        file.name,
        LONGEST_MS / 60_000
    );
    JobError::new("preparation_too_long", message)
}

/// The progress of a conversion.
struct Progress<'a, 'b, S, Q, F> {
    preparer: &'a Preparer<'b, S, Q, F>,
    job: &'a Job,
    file: &'a SourceFile,
    /// Bytes that were read. Some are read twice.
    read_bytes: u64,
    began: Timestamp,
    recorded: Option<Timestamp>,
}

impl<'a, 'b, S: Store, Q: Queues, F: Files + MultipartFiles> Progress<'a, 'b, S, Q, F> {
    fn new(preparer: &'a Preparer<'b, S, Q, F>, job: &'a Job, file: &'a SourceFile) -> Self {
        Self { preparer, job, file, read_bytes: 0, began: (preparer.clock)(), recorded: None }
    }

    fn elapsed_ms(&self) -> i64 {
        (self.preparer.clock)().millis_since(self.began)
    }

    /// Records the progress at the beginning and every few seconds. Returns false if the job is no longer to be prepared. A
    /// table that is throttled does not end the conversion.
    async fn record(&mut self) -> bool {
        let now = (self.preparer.clock)();
        if self.recorded.is_some_and(|recorded| now.millis_since(recorded) < PROGRESS_MS) {
            return true;
        }
        self.recorded = Some(now);
        let preparation = Preparation::read(self.read_bytes, self.file);
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
    async fn is_wanted(&self) -> PortResult<bool> {
        let job = self.preparer.ports.store.job(self.job.job_id).await?;
        let has_file = |job: &Job| job.source == self.job.source && job.retry.selection == self.job.retry.selection;
        Ok(job.is_some_and(|job| job.can_be_prepared(self.job.generation) && has_file(&job)))
    }
}
