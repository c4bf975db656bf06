//! Creates uploads: presigned URLs with which a client uploads a file directly to S3, by one PUT or, if it is large, in
//! parts.
//!
//! - **Trigger:** `POST /api/uploads`, `GET /api/uploads/{fileGuid}`, `POST /api/uploads/{fileGuid}/url` and `…/complete`.
//! - **Reads and writes:** one record of the upload, so that a job can refer to it by its `fileGuid`, in one
//!   transaction with its idempotency key and the count of the tenant's bytes of that day. URLs are signed without a
//!   network call. A HEAD shows if the file exists; S3's list shows which parts do. The file is assembled once S3 has
//!   all of its parts.
//! - **Called twice:** with an `Idempotency-Key`, returns the first call's upload with a new URL. Without one, creates
//!   two uploads; the unused one expires. The file itself can be uploaded or completed only once, regardless of the
//!   number of URLs; a part can be uploaded again until then.
//! - **If it fails:** the client gets a problem and retries. A record without a URL is never used and expires; the
//!   bucket removes parts that are not completed within a day.
//! - **Never:** reads a byte of the file; trusts a client's claims about its parts; logs a URL; reveals the existence
//!   of another tenant's upload.

mod complete;
mod create;
mod document;
mod openapi;
mod parts;
mod places;
mod read;
mod renew;
mod request;
mod state;
mod wanted;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Extension, Router};
use longshore::config::{self, Aws};
use longshore::http::{self, Access, CallCost, CallLimit, Failure, Tenant, rate_limited};
use longshore::problem::Problem;
use longshore_domain::ids::FileGuid;
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::{CallWindow, JobStore, PortResult, TenantCounts, TenantLimits, Upload};
use longshore_domain::rate::Rate;
use longshore_domain::time_stamp::Timestamp;

pub use document::{PromisedUpload, UploadDocument, UploadState, UploadStatus};
pub use openapi::openapi;
pub use parts::{PartDocument, PartsDocument, ReceivedDocument};
pub use places::{PartPlaces, UploadPlaces};
pub use request::UploadRequest;

/// Routes of this function.
pub const ROUTES: [(&str, &str); 4] = [
    ("POST", "/api/uploads"),
    ("GET", "/api/uploads/{fileGuid}"),
    ("POST", "/api/uploads/{fileGuid}/url"),
    ("POST", "/api/uploads/{fileGuid}/complete"),
];

/// Maximum body size: the checksums of 200 parts take 20 KiB, a name of 255 characters in its longest JSON encoding 3
/// KiB.
const BODY_BYTES: usize = 64 * 1024;

/// Time within which the PUT must begin; it may last longer. One hour, so that a person can queue several large files.
const URL_SECONDS: i64 = 3_600;

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

impl<S: JobStore + TenantCounts, P: UploadPlaces> Uploads<S, P> {
    /// Counts a call that causes work, before the work begins.
    ///
    /// # Errors
    /// 429 `rate-limited`, or the store fails.
    async fn count_call(&self, tenant: &Tenant) -> Result<(), Failure> {
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
    async fn upload(&self, tenant: &Tenant, id: &str) -> Result<Upload, Failure> {
        let now_s = (self.clock)().seconds();
        let found = match FileGuid::parse(id) {
            Some(id) => self.store.upload(id).await?,
            None => None,
        };
        let upload = found.filter(|upload| upload.tenant == tenant.0 && upload.expires_at > now_s);
        Ok(upload.ok_or_else(|| Problem::not_found("upload"))?)
    }

    /// Prepares a new upload for the store. An upload in parts is begun in S3.
    async fn begun(&self, mut upload: Upload, part_bytes: Option<u64>) -> PortResult<Upload> {
        if let Some(part_bytes) = part_bytes {
            upload.multipart = Some(Multipart { id: self.places.begin(&upload).await?, part_bytes });
        }
        Ok(upload)
    }

    /// Returns the upload instructions. For an upload in parts, the requested parts have URLs.
    async fn document(&self, upload: &Upload, wanted: &[(Part, String)]) -> PortResult<PromisedUpload> {
        let Some(multipart) = &upload.multipart else {
            return Ok(PromisedUpload::Whole(self.signed(upload).await?));
        };
        let mut signed = self.signed_parts((upload, multipart), wanted).await?;
        let all = longshore_domain::parts::parts(upload.size_bytes, multipart.part_bytes).map(|part| {
            let place = signed.iter().position(|signed| signed.part_number == part.number);
            place.map_or_else(|| PartDocument::planned(part), |place| signed.swap_remove(place))
        });
        Ok(PromisedUpload::InParts(PartsDocument::new(upload, multipart, all.collect())))
    }

    /// Signs a URL for an upload by one PUT.
    async fn signed(&self, upload: &Upload) -> PortResult<UploadDocument> {
        let signed = self.places.upload_url(upload, URL_SECONDS.unsigned_abs()).await?;
        Ok(UploadDocument::new(upload, signed, (self.clock)().plus_seconds(URL_SECONDS)))
    }

    /// Signs URLs for parts, each with its SHA-256.
    async fn signed_parts(
        &self,
        of: (&Upload, &Multipart),
        wanted: &[(Part, String)],
    ) -> PortResult<Vec<PartDocument>> {
        let until = (self.clock)().plus_seconds(URL_SECONDS);
        let mut signed = Vec::with_capacity(wanted.len());
        for (part, sha256) in wanted {
            let url = self.places.part_url(of, *part, sha256, URL_SECONDS.unsigned_abs()).await?;
            signed.push(PartDocument::signed(*part, url, until));
        }
        Ok(signed)
    }
}

/// Returns the function as a router.
pub fn router<S, P>(uploads: Uploads<S, P>) -> Router
where
    S: JobStore + TenantCounts + 'static,
    P: UploadPlaces + 'static,
{
    let router = Router::new()
        // Only the store counts these calls: a repeated create gets its first answer regardless of the rate limit.
        .route("/api/uploads", post(create::create::<S, P>).layer(Extension(CallCost(0))))
        .route("/api/uploads/{fileGuid}", get(read::status::<S, P>))
        .route("/api/uploads/{fileGuid}/url", post(renew::renew::<S, P>))
        .route("/api/uploads/{fileGuid}/complete", post(complete::complete::<S, P>));
    let limit = CallLimit::new(uploads.tenant_calls, uploads.clock);
    let router = http::with_call_limit(http::with_problems(router), limit);
    http::with_access(router, &uploads.access).with_state(Arc::new(uploads))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If the environment lacks something, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let max_bytes_per_day = config::max_tenant_upload_bytes_per_day()?;
    let work_calls = config::tenant_work_calls()?;
    let limits = TenantLimits { upload_bytes_per_day: max_bytes_per_day, work_calls, ..TenantLimits::default() };
    let uploads = Uploads {
        store: aws.store()?.with_limits(limits),
        places: aws.files()?,
        access: config::access()?,
        max_file_bytes: config::max_file_bytes()?,
        multipart_bytes: config::multipart_bytes()?,
        max_bytes_per_day,
        tenant_calls: config::tenant_calls()?,
        retention_days: config::retention_days()?,
        clock: Timestamp::now,
    };
    http::serve("upload", router(uploads)).await
}
