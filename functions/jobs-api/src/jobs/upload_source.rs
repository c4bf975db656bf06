//! The uploaded file that a create or a retry names.

use longshore::field_error::FieldError;
use longshore::http::{Bad, Failure, Tenant};
use longshore::job_request::{ParsedReading, find_upload, source_file, unknown_file};
use longshore::problem::Problem;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::SourceFile;

use crate::backend::{Api, Backend};

/// Returns the file of an upload in its current version.
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
    let upload = find_upload(&api.ports.store, tenant, id, now_s).await?;
    let upload = upload.ok_or_else(unknown_file).map_err(refused)?;
    source_file(&api.ports.files, upload, reading, api.limits.max_file_bytes).await?.map_err(refused)
}

/// Returns 422 with this error of a file, or of its reading.
pub(super) fn refused(bad: Bad) -> Failure {
    let pointer = if bad.code == "reading_not_allowed" { "/reading" } else { "/fileGuid" };
    Problem::invalid(vec![FieldError::new(pointer, bad.code, bad.detail)]).into()
}
