//! Checks that the file of a job exists and is the promised one.

use longshore::http::{Bad, Failure, Tenant};
use longshore::problem::{FieldError, Problem};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileInfo, Files, JobStore, Upload};
use longshore_domain::records::Format;

use crate::backend::{Api, Backend};

/// Returns the file of an upload as it is now. Its entity tag pins it: if the file changes later, the job fails.
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
    let (size, promised) = (info.size_bytes, upload.size_bytes);
    if size != promised {
        let detail = format!("the file has {size} bytes, the upload was for {promised}; upload it again");
        return Err(Bad::new("file_size_mismatch", detail));
    }
    if size > max {
        return Err(Bad::new("file_too_large", format!("the file has {size} bytes; up to {max} are taken")));
    }
    Ok(())
}

/// No upload has this id, or it belongs to another tenant: the two are indistinguishable.
pub(super) fn unknown_file() -> Bad {
    Bad::new("unknown_file", "there is no upload of this id; take the fileGuid that POST /api/uploads answered")
}

fn not_uploaded() -> Bad {
    Bad::new("file_not_uploaded", "nothing was put under this upload yet; put the file first, then create the job")
}

/// Returns 422 with this error at `/fileGuid`.
pub(super) fn refused(bad: Bad) -> Failure {
    Problem::invalid(vec![FieldError::new("/fileGuid", bad.code, bad.detail)]).into()
}
