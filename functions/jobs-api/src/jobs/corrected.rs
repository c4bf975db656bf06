//! Checks by size and first line, with one ranged read, if an upload is a corrected failures file of a job.
//!
//! The splitter reads the whole file later; errors found here are reported to the client at once.

use longshore::failures_file::{CORRECTED_BYTES, Columns, HEAD_BYTES, Layout};
use longshore::files::ResumingReader;
use longshore::http::{Bad, Failure, Tenant};
use longshore::telemetry;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, JobStore, PortError, Read};

use super::source::{find_source, refused, unknown_file};
use crate::backend::{Api, Backend};
use crate::unreadable::unreadable;

/// Returns the corrected failures file, pinned by its entity tag.
///
/// # Errors
/// 422 at `/fileGuid`: the errors of a job's file, and `file_not_allowed`, `corrected_file_too_large`,
/// `not_a_failures_file`. 503 `unavailable` if the file cannot be read.
pub(super) async fn find_corrected<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    job: &Job,
    id: FileGuid,
) -> Result<SourceFile, Failure> {
    let Some(source) = &job.source else { return Err(refused(no_file_to_correct())) };
    let file = find_source(api, tenant, id).await?;
    if file.size_bytes > CORRECTED_BYTES {
        return Err(refused(too_large(file.size_bytes)));
    }
    let definition = api.ports.store.definition(job.job_id).await?;
    let columns = Columns::from_names(source.format, definition.and_then(|definition| definition.columns));
    let columns = columns.ok_or_else(|| refused(not_one("no row of this job has failed yet; retry without a file")))?;
    let header = read_header(&api.ports.files, &file).await?;
    let whole = header.len() as u64 == file.size_bytes;
    Layout::find(&header, whole, &columns).map_err(|error| refused(not_one(&error.to_string())))?;
    Ok(file)
}

/// Reads the first bytes of a file that existed a moment ago.
///
/// # Errors
/// 422 `unknown_file` if it no longer exists; 503 `unavailable` if it cannot be read.
async fn read_header(files: &impl Files, file: &SourceFile) -> Result<Vec<u8>, Failure> {
    let mut reader = ResumingReader::new(files, file, 0).up_to(HEAD_BYTES);
    let mut header = Vec::new();
    loop {
        match reader.next().await.map_err(|error| cannot_be_read(&error))? {
            Read::Found(Some(block)) => header.extend_from_slice(&block),
            Read::Found(None) => return Ok(header),
            Read::Absent | Read::Changed => return Err(refused(unknown_file())),
        }
    }
}

fn cannot_be_read(error: &PortError) -> Failure {
    unreadable(&telemetry::chain(error), "the corrected file cannot be read at this moment; make the call again later")
}

fn not_one(why: &str) -> Bad {
    Bad::new("not_a_failures_file", format!("the file is no corrected failures file of this job: {why}"))
}

fn no_file_to_correct() -> Bad {
    Bad::new(
        "file_not_allowed",
        "this job has no file, so nothing of it can be corrected; create a job with other options",
    )
}

fn too_large(size_bytes: u64) -> Bad {
    let detail = format!(
        "a corrected file may have up to {CORRECTED_BYTES} bytes, this one has {size_bytes}; split it and retry with one \
         part after the other, for rows that do not stand in a part stay failed"
    );
    Bad::new("corrected_file_too_large", detail)
}
