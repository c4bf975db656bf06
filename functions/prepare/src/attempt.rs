//! One conversion of a file: from its first byte to the stored result.

use longshore::failures_file::CORRECTED_BYTES;
use longshore::files::ResumingReader;
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Files, MultipartFiles, PortResult, Queues, Store};
use longshore_domain::records::Form;
use longshore_domain::timestamp::Timestamp;
use longshore_preparation::{Conversion, Limits, Prepared, SheetChoice, Step, sheet_choice};

use crate::outcome::PrepareError;
use crate::preparer::{Preparer, Waits};
use crate::progress::Progress;
use crate::upload::Upload;

/// Time after which a file is refused, in milliseconds. Another attempt would take as long.
const LONGEST_MS: i64 = 600_000;

/// A conversion of a job's file.
pub(crate) struct Attempt<'a, S, Q, F> {
    pub(crate) preparer: &'a Preparer<'a, S, Q, F>,
    pub(crate) job: &'a Job,
    /// The file, in this form.
    pub(crate) file: &'a SourceFile,
    pub(crate) form: Form,
    /// The end of the function's time.
    pub(crate) deadline: Timestamp,
}

/// The end of a conversion.
pub(crate) enum Converted {
    /// The prepared file.
    File(Box<SourceFile>),
    /// The file is refused.
    Refused(JobError),
    /// The job is stopping, or another delivery was first.
    Stopped,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Attempt<'_, S, Q, F> {
    /// Converts the file, and stores the result. Without a result, nothing stays stored.
    pub(crate) async fn run(&self, mut upload: Upload<'_, F>) -> Result<Converted, PrepareError> {
        let converted = self.convert_into(&mut upload).await;
        if !matches!(converted, Ok(Converted::File(_))) {
            upload.discard().await;
        }
        converted
    }

    async fn convert_into(&self, upload: &mut Upload<'_, F>) -> Result<Converted, PrepareError> {
        let mut progress = Progress::new(self.preparer, self.job, self.file);
        let prepared = match self.convert(&mut progress, upload).await? {
            Ok(prepared) => prepared,
            Err(ended) => return Ok(ended),
        };
        if let Err(error) = prepared.check_format(self.file.format) {
            return Ok(Converted::Refused(error));
        }
        // The folder of a deleted job can be removed at any time.
        if !progress.is_wanted().await? {
            return Ok(Converted::Stopped);
        }
        self.store(&prepared, upload).await
    }

    /// Converts the file. Returns the end of the attempt if that comes first.
    async fn convert(
        &self,
        progress: &mut Progress<'_, '_, S, Q, F>,
        upload: &mut Upload<'_, F>,
    ) -> Result<Result<Prepared, Converted>, PrepareError> {
        let Self { preparer, file, .. } = *self;
        let mut conversion = Conversion::start(self.form, file.size_bytes, self.sheet().await?, self.limits())?;
        loop {
            let step = match preparer.waits {
                Waits::Asynchronously => conversion.next().await,
                Waits::Blocking => conversion.blocking_next(),
            };
            if !progress.record().await {
                return Ok(Err(Converted::Stopped));
            }
            match step {
                Step::Ended(Ok(prepared)) => return Ok(Ok(prepared)),
                Step::Ended(Err(error)) => {
                    let code = error.code().ok_or_else(|| PrepareError::Conversion(error.to_string()))?;
                    return Ok(Err(Converted::Refused(JobError::new(code, error.to_string()))));
                }
                _ if progress.elapsed_ms() > LONGEST_MS => return Ok(Err(Converted::Refused(too_long(file)))),
                _ if (preparer.clock)() > self.deadline => return Err(PrepareError::TimeOver),
                Step::Read(range) => {
                    progress.read_bytes += range.end - range.start;
                    let bytes = ResumingReader::read_range(&preparer.ports.files, file, range).await?;
                    conversion.answer(bytes.ok_or(PrepareError::FileGone)?);
                }
                Step::Part(part) => upload.push(part).await?,
            }
        }
    }

    /// Completes the upload, and stores the rows of a sheet with gaps.
    async fn store(&self, prepared: &Prepared, upload: &mut Upload<'_, F>) -> Result<Converted, PrepareError> {
        let info = upload.finish().await?;
        if info.size_bytes != prepared.bytes {
            return Err(PrepareError::NotStored);
        }
        let file = SourceFile {
            key: upload.key().to_owned(),
            size_bytes: info.size_bytes,
            etag: info.etag,
            original: Some(Box::new(prepared.original(self.file, self.form))),
            ..self.file.clone()
        };
        if prepared.row_steps.has_gaps() {
            let (key, steps) = (file.row_steps_key(), prepared.row_steps.as_bytes().to_vec());
            self.preparer.ports.files.write(&key, "application/octet-stream", steps).await?;
        }
        Ok(Converted::File(Box::new(file)))
    }

    /// Returns the limits of the conversion. The splitter holds a corrected file in memory.
    fn limits(&self) -> Limits {
        let (limits, file_bytes) = (Limits::default(), self.preparer.max_file_bytes);
        let most = if self.is_job_file() { file_bytes } else { file_bytes.min(CORRECTED_BYTES) };
        Limits { output_bytes: limits.output_bytes.min(most), ..limits }
    }

    /// Returns the sheet that is read of a workbook. Of a corrected file, it is the first visible one.
    async fn sheet(&self) -> PortResult<SheetChoice> {
        if !self.is_job_file() {
            return Ok(SheetChoice::FirstVisible);
        }
        let definition = self.preparer.ports.store.definition(self.job.job_id).await?;
        Ok(sheet_choice(definition.and_then(|definition| definition.sheet)))
    }

    fn is_job_file(&self) -> bool {
        self.job.file() == Some(self.file)
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
