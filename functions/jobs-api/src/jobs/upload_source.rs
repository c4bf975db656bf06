//! The uploaded file that a request names as the source of a job.

use longshore::field_error::FieldError;
use longshore::http::{Bad, Failure, Tenant};
use longshore::problem::Problem;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileInfo, Files, JobStore, Upload};
use longshore_domain::records::Format;

use super::reading_request::{ParsedReading, not_for_json_lines};
use crate::backend::{Api, Backend};

/// Returns the file of an upload in its current version, identified by its entity tag: if the file changes, the job
/// fails.
///
/// # Errors
/// 422 at `/fileGuid`: `unknown_file`, `file_not_uploaded`, `file_size_mismatch`, `file_too_large`; 422 at `/reading`:
/// `reading_not_allowed`.
pub(super) async fn find_source<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    id: FileGuid,
    reading: ParsedReading,
) -> Result<SourceFile, Failure> {
    let now_s = (api.clock)().seconds();
    let upload = api.ports.store.upload(id).await?;
    let upload = upload.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
    let upload = upload.ok_or_else(unknown_file).map_err(refused)?;
    let info = api.ports.files.info(&upload.key).await?.ok_or_else(not_uploaded).map_err(refused)?;
    check_size(&upload, &info, api.limits.max_file_bytes).map_err(refused)?;
    let format = reading.format.unwrap_or_else(|| Format::from_file(&upload.file_name, &upload.content_type));
    if format == Format::JsonLines && !reading.csv.is_empty() {
        let Bad { code, detail } = not_for_json_lines();
        return Err(Problem::invalid(vec![FieldError::new("/reading", code, detail)]).into());
    }
    Ok(SourceFile {
        format,
        key: upload.key,
        size_bytes: info.size_bytes,
        etag: info.etag,
        name: upload.file_name,
        reading: None,
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
