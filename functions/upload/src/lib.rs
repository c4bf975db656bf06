//! Promises a place for one file: a presigned URL by which a client puts it straight into S3.
//!
//! - **Trigger:** `POST /api/uploads`.
//! - **Reads and writes:** one record of the upload, so that a job can name it by its `fileGuid`. The URL is signed
//!   without a call.
//! - **Called twice:** two uploads, of which one stays unused and expires. The file itself can be put only once.
//! - **If it fails:** the client gets a problem and asks again. A record without a URL is never used and expires.
//! - **Never:** sees a byte of the file; logs a URL.

mod create;
mod request;
mod urls;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use longshore::config::{self, Aws};
use longshore::http::{self, Access};
use longshore_domain::ports::JobStore;
use longshore_domain::time_stamp::Timestamp;

pub use create::UploadDocument;
pub use request::UploadRequest;
pub use urls::UploadUrls;

/// The calls that this function answers.
pub const ROUTES: [(&str, &str); 1] = [("POST", "/api/uploads")];

/// The function: services, limits and the clock.
#[derive(Clone, Debug)]
pub struct Uploads<S, U> {
    /// Where uploads are remembered.
    pub store: S,
    /// Who signs.
    pub urls: U,
    /// Who may call.
    pub access: Access,
    /// Bytes of the largest file.
    pub max_file_bytes: u64,
    /// Days until an upload is forgotten.
    pub retention_days: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// The function as a router.
pub fn router<S, U>(uploads: Uploads<S, U>) -> Router
where
    S: JobStore + 'static,
    U: UploadUrls + 'static,
{
    let router = Router::new().route("/api/uploads", post(create::create::<S, U>));
    http::with_access(http::with_problems(router), &uploads.access).with_state(Arc::new(uploads))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If the environment lacks something, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let uploads = Uploads {
        store: aws.store()?,
        urls: aws.files()?,
        access: config::access()?,
        max_file_bytes: config::max_file_bytes()?,
        retention_days: config::retention_days()?,
        clock: Timestamp::now,
    };
    http::serve("upload", router(uploads)).await
}
