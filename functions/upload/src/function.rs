//! State of the function, and the upload of a path.

use longshore::http::{Access, Failure, Tenant};
use longshore::problem::Problem;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, Upload};
use longshore_domain::rate::Rate;
use longshore_domain::timestamp::Timestamp;

/// Maximum body size: the checksums of 200 parts take 20 KiB, a name of 255 characters in its longest JSON encoding 3
/// KiB.
pub(crate) const BODY_BYTES: usize = 64 * 1024;

/// State of the function: services, limits and the clock.
#[derive(Clone, Debug)]
pub struct Uploads<S, P> {
    /// Store of upload records.
    pub store: S,
    /// Storage of the files.
    pub storage: P,
    /// Access control.
    pub access: Access,
    /// Maximum size of a file in bytes.
    pub max_file_bytes: u64,
    /// File size in bytes above which a file is uploaded in parts.
    pub multipart_bytes: u64,
    /// Daily quota of a tenant in bytes. The store counts them.
    pub max_bytes_per_day: u64,
    /// Rate limit of a tenant's calls, per process.
    pub tenant_calls: Rate,
    /// Days until an upload expires.
    pub retention_days: i64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: JobStore, P> Uploads<S, P> {
    /// Returns the upload of a path.
    ///
    /// # Errors
    /// 404 if the upload does not exist, belongs to another tenant, or has expired.
    pub(crate) async fn upload(&self, tenant: &Tenant, id: &str) -> Result<Upload, Failure> {
        let now_s = (self.clock)().seconds();
        let upload = match FileGuid::parse(id) {
            Some(id) => self.store.upload(id).await?,
            None => None,
        };
        let upload = upload.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
        Ok(upload.ok_or_else(|| Problem::not_found("upload"))?)
    }
}
