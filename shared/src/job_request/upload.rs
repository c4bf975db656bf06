//! The uploaded file that a request names.

use longshore_domain::ids::FileGuid;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileInfo, Files, JobStore, PortResult, Upload};
use longshore_domain::records::Format;

use super::reading::{ParsedReading, not_for_json_lines};
use crate::http::{Bad, Checked, Tenant};

/// Returns the upload with this id, if it belongs to the tenant and has not expired at this time.
///
/// # Errors
/// If the store fails.
pub async fn find_upload(
    store: &impl JobStore,
    tenant: &Tenant,
    id: FileGuid,
    now_s: i64,
) -> PortResult<Option<Upload>> {
    let upload = store.upload(id).await?;
    Ok(upload.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s))
}

/// Returns the file of an upload in its current version, identified by its entity tag: if the file changes, the job
/// fails. An error is `file_not_uploaded`, `file_size_mismatch`, `file_too_large` or `reading_not_allowed`.
///
/// # Errors
/// If the bucket fails.
pub async fn source_file(
    files: &impl Files,
    upload: Upload,
    reading: ParsedReading,
    max_bytes: u64,
) -> PortResult<Checked<SourceFile>> {
    let Some(info) = files.info(&upload.key).await? else { return Ok(Err(not_uploaded())) };
    Ok(checked(upload, info, reading, max_bytes))
}

fn checked(upload: Upload, info: FileInfo, reading: ParsedReading, max_bytes: u64) -> Checked<SourceFile> {
    check_size(&upload, &info, max_bytes)?;
    let format = reading.format.unwrap_or_else(|| Format::from_file(&upload.file_name, &upload.content_type));
    if format == Format::JsonLines && (!reading.csv.is_empty() || reading.sheet.is_some()) {
        return Err(not_for_json_lines());
    }
    Ok(SourceFile::new(upload.key, info, format, upload.file_name))
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
#[must_use]
pub fn unknown_file() -> Bad {
    Bad::new("unknown_file", "there is no upload with this id; use the fileGuid that POST /api/uploads returned")
}

fn not_uploaded() -> Bad {
    Bad::new("file_not_uploaded", "the file has not been uploaded yet; upload it first")
}
