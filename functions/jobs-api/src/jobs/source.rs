//! Checks of the uploads of a request: the file of a job, and a corrected failures file.
//!
//! The splitter reads the whole corrected file later. A single ranged read here finds most errors in time to report
//! them to the client.

use longshore::failures_file::{CORRECTED_BYTES, ColumnLayout, Columns, HEAD_BYTES};
use longshore::field_error::FieldError;
use longshore::files::ResumingReader;
use longshore::http::{Bad, Failure, Tenant};
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{FileInfo, Files, JobStore, PortError, Read, Upload};
use longshore_domain::records::{Extent, Format};

use crate::backend::{Api, Backend};
use crate::unreadable::unreadable;

/// Returns the file of an upload in its current version, identified by its entity tag: if the file changes, the job
/// fails.
///
/// # Errors
/// 422 at `/fileGuid`: `unknown_file`, `file_not_uploaded`, `file_size_mismatch`, `file_too_large`.
pub(super) async fn find_source<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    id: FileGuid,
) -> Result<SourceFile, Failure> {
    let now_s = (api.clock)().seconds();
    let upload = api.ports.store.upload(id).await?;
    let upload = upload.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
    let upload = upload.ok_or_else(unknown_file).map_err(refused)?;
    let info = api.ports.files.info(&upload.key).await?.ok_or_else(not_uploaded).map_err(refused)?;
    check_size(&upload, &info, api.limits.max_file_bytes).map_err(refused)?;
    Ok(SourceFile {
        format: Format::from_file(&upload.file_name, &upload.content_type),
        key: upload.key,
        size_bytes: info.size_bytes,
        etag: info.etag,
        name: upload.file_name,
    })
}

fn check_size(upload: &Upload, info: &FileInfo, max: u64) -> Result<(), Bad> {
    let (size, declared) = (info.size_bytes, upload.size_bytes);
    if size != declared {
        let detail = format!("the file has {size} bytes, but the upload declared {declared}; upload the file again");
        return Err(Bad::new("file_size_mismatch", detail));
    }
    if size > max {
        return Err(Bad::new("file_too_large", format!("the file has {size} bytes; the maximum is {max}")));
    }
    Ok(())
}

/// The upload does not exist, or belongs to another tenant; a client cannot distinguish the two.
pub(super) fn unknown_file() -> Bad {
    Bad::new("unknown_file", "there is no upload with this id; use the fileGuid that POST /api/uploads returned")
}

fn not_uploaded() -> Bad {
    Bad::new("file_not_uploaded", "the file has not been uploaded yet; upload it first")
}

/// Returns 422 with this error at `/fileGuid`.
pub(super) fn refused(bad: Bad) -> Failure {
    Problem::invalid(vec![FieldError::new("/fileGuid", bad.code, bad.detail)]).into()
}

/// Returns the corrected failures file in its current version, identified by its entity tag.
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
    let columns =
        columns.ok_or_else(|| refused(not_a_failures_file("no row of this job has failed; retry without a file")))?;
    let head = read_head(&api.ports.files, &file).await?;
    let extent = Extent::from_lengths(head.len() as u64, file.size_bytes);
    ColumnLayout::find(&head, extent, &columns).map_err(|error| refused(not_a_failures_file(&error.to_string())))?;
    Ok(file)
}

/// Reads the first bytes of a file that existed a moment ago.
///
/// # Errors
/// 422 `unknown_file` if it no longer exists; 503 `unavailable` if it cannot be read.
async fn read_head(files: &impl Files, file: &SourceFile) -> Result<Vec<u8>, Failure> {
    let mut reader = ResumingReader::new(files, file, 0).up_to(HEAD_BYTES);
    let mut head = Vec::new();
    loop {
        match reader.next().await.map_err(|error| cannot_be_read(&error))? {
            Read::Found(Some(block)) => head.extend_from_slice(&block),
            Read::Found(None) => return Ok(head),
            Read::Absent | Read::Changed => return Err(refused(unknown_file())),
        }
    }
}

fn cannot_be_read(error: &PortError) -> Failure {
    unreadable(&telemetry::chain(error), "the corrected file cannot be read at the moment; retry later")
}

fn not_a_failures_file(why: &str) -> Bad {
    Bad::new("not_a_failures_file", format!("the file is not a corrected failures file of this job: {why}"))
}

fn no_file_to_correct() -> Bad {
    Bad::new(
        "file_not_allowed",
        "this job has no file, so there are no rows to correct; retry without a file, or create another job",
    )
}

fn too_large(size_bytes: u64) -> Bad {
    let detail = format!(
        "the corrected file has {size_bytes} bytes; the maximum is {CORRECTED_BYTES}; split it, and retry with one \
         part after the other; rows that are in no part stay failed"
    );
    Bad::new("corrected_file_too_large", detail)
}
