//! State of the function, and the upload that a path names.

use longshore::http::{Access, Failure, Tenant, rate_limited};
use longshore::problem::Problem;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{CallWindow, JobStore, TenantCounts, Upload};
use longshore_domain::rate::Rate;
use longshore_domain::time_stamp::Timestamp;

/// Maximum body size: the checksums of 200 parts take 20 KiB, a name of 255 characters in its longest JSON encoding 3
/// KiB.
pub(crate) const BODY_BYTES: usize = 64 * 1024;

/// State of the function: services, limits and the clock.
#[derive(Clone, Debug)]
pub struct Uploads<S, P> {
    /// Store of upload records.
    pub store: S,
    /// Storage of the files.
    pub places: P,
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

impl<S: JobStore + TenantCounts, P> Uploads<S, P> {
    /// Counts a call that causes work, before the work begins.
    ///
    /// # Errors
    /// 429 `rate-limited`, or the store fails.
    pub(crate) async fn count_call(&self, tenant: &Tenant) -> Result<(), Failure> {
        let now = (self.clock)();
        if self.store.count_call(&tenant.0, now).await? {
            return Ok(());
        }
        Err(rate_limited(CallWindow::at(now).end().millis_since(now)).into())
    }

    /// Returns the upload that a path names.
    ///
    /// # Errors
    /// 404 if there is none, if it is another tenant's, or if it has expired.
    pub(crate) async fn upload(&self, tenant: &Tenant, id: &str) -> Result<Upload, Failure> {
        let now_s = (self.clock)().seconds();
        let found = match FileGuid::parse(id) {
            Some(id) => self.store.upload(id).await?,
            None => None,
        };
        let upload = found.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
        Ok(upload.ok_or_else(|| Problem::not_found("upload"))?)
    }
}
