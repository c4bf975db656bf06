//! The receipt of a job: the fingerprints of its input and of its report's files.
//!
//! The report's files are fingerprinted while they are written. If the client sent the input's SHA-256 with the upload,
//! the receipt uses it, because S3 accepted no other file. Otherwise the file is read once more, with the entity tag
//! that the job processed. The splitter also reads the file, but over any number of deliveries, and resumes at a
//! record, so its reads do not cover the whole file exactly once.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use longshore::files::ResumingReader;
use longshore::fingerprint::Fingerprinter;
use longshore::ports::Ports;
use longshore::receipt::{Basis, CodeVersion, InputReceipt, PartReceipt, Receipt};
use longshore::telemetry;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, JobStore, PortResult, Read};

use crate::report::WrittenReport;

/// Commit from an environment variable of the build. A build that called git itself would differ from one of the same
/// source without a repository.
const COMMIT: Option<&str> = option_env!("LONGSHORE_COMMIT");

/// Creates the receipt of a job whose report is written. Every completion of the generation creates the same one,
/// unless the time ends while the input is read.
///
/// # Errors
/// If a service fails.
pub(crate) async fn receipt<S: JobStore, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    written: &WrittenReport,
    in_time: &(impl Fn() -> bool + Sync),
) -> PortResult<Receipt> {
    let counts = written.report.counts;
    Ok(Receipt {
        job_id: job.job_id,
        job_type: job.job_type.clone(),
        generation: job.generation,
        item_count: counts.total(),
        counts,
        input: input(ports, job.file(), in_time).await?,
        part: job.part().map(PartReceipt::from),
        corrected: input(ports, job.retry.selection.corrected(), in_time).await?,
        files: written.files.clone(),
        results: written.results.clone(),
        code: CodeVersion { version: env!("CARGO_PKG_VERSION").to_owned(), commit: COMMIT.map(str::to_owned) },
    })
}

async fn input<S: JobStore, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    file: Option<&SourceFile>,
    in_time: &(impl Fn() -> bool + Sync),
) -> PortResult<Option<InputReceipt>> {
    let Some(file) = &file.map(SourceFile::as_uploaded) else { return Ok(None) };
    let (sha256, basis) = match uploaded_sha256(&ports.store, file).await? {
        Some(sha256) => (Some(sha256), Basis::Upload),
        None => read(&ports.files, file, in_time).await,
    };
    Ok(Some(InputReceipt { name: file.name.clone(), size: file.size_bytes, sha256, basis }))
}

/// Returns the SHA-256 that the client sent with the upload. It is signed into the upload's URL, so S3 accepted no
/// other file. An undo may have read a part of the file only.
async fn uploaded_sha256(store: &impl JobStore, file: &SourceFile) -> PortResult<Option<String>> {
    let Some(id) = file.upload() else { return Ok(None) };
    let upload =
        store.upload(id).await?.filter(|upload| upload.key == file.key && upload.size_bytes == file.size_bytes);
    let sha256 = upload.and_then(|upload| upload.sha256).and_then(|sha256| STANDARD.decode(sha256).ok());
    Ok(sha256.map(|sha256| HEXLOWER.encode(&sha256)))
}

/// Streams the whole file, block by block, while there is time. A failure here never prevents the end of the job.
async fn read(files: &impl Files, file: &SourceFile, in_time: &(impl Fn() -> bool + Sync)) -> (Option<String>, Basis) {
    let (mut print, mut reader) = (Fingerprinter::default(), ResumingReader::new(files, file, 0));
    loop {
        match reader.next().await {
            Ok(Read::Found(Some(_))) if !in_time() => return (None, Basis::TooLong),
            Ok(Read::Found(Some(block))) => print.take(&block),
            Ok(Read::Found(None)) => return (Some(print.finish().sha256), Basis::Read),
            Ok(Read::Absent | Read::Changed) => return (None, Basis::Gone),
            Err(error) => {
                let error = telemetry::chain(&error);
                tracing::warn!(file.key = file.key, error, "cannot read the input for its receipt");
                return (None, Basis::TooLong);
            }
        }
    }
}
