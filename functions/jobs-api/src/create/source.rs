//! Checks that the file of a job exists and is the promised one.

use longshore::http::{Bad, Failure, Tenant};
use longshore::problem::{FieldError, Problem};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileInfo, Files, JobStore, Upload};
use longshore_domain::records::Format;

pub(crate) use super::request::unknown_file;
use crate::{Api, Backend};

impl<B: Backend> Api<B> {
    /// Returns the file as it is now. Its entity tag pins it: if the file changes later, the job fails.
    ///
    /// # Errors
    /// 422 at `/fileGuid`: `unknown_file`, `file_not_uploaded`, `file_size_mismatch`, `file_too_large`.
    pub(crate) async fn source(&self, tenant: &Tenant, id: FileGuid) -> Result<SourceFile, Failure> {
        let now_s = (self.clock)().seconds();
        let upload = self.ports.store.upload(id).await?;
        let upload = upload.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
        let upload = upload.ok_or_else(unknown_file).map_err(refused)?;
        let info = self.ports.files.info(&upload.key).await?.ok_or_else(not_uploaded).map_err(refused)?;
        check_size(&upload, &info, self.limits.max_file_bytes).map_err(refused)?;
        Ok(SourceFile {
            format: Format::from_file(&upload.file_name, &upload.content_type),
            key: upload.key,
            size_bytes: info.size_bytes,
            etag: info.etag,
            name: upload.file_name,
        })
    }
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

fn not_uploaded() -> Bad {
    Bad::new("file_not_uploaded", "nothing was put under this upload yet; put the file first, then create the job")
}

pub(crate) fn refused(bad: Bad) -> Failure {
    Problem::invalid(vec![FieldError::new("/fileGuid", bad.code, bad.detail)]).into()
}
