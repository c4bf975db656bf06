//! Creates uploads: presigned URLs with which a client uploads a file directly to S3, by one PUT or, if it is large, in
//! parts.
//!
//! - **Trigger:** `POST /api/uploads`, `GET /api/uploads/{fileGuid}`, `POST /api/uploads/{fileGuid}/url` and
//!   `…/complete`.
//! - **Reads and writes:** one record of the upload, so that a job can refer to it by its `fileGuid`, in one
//!   transaction with its idempotency key and the count of the tenant's bytes of that day. URLs are signed without a
//!   network call. A HEAD tells whether the file exists, and S3's list which parts exist. The file is assembled once S3
//!   has all of its parts.
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
mod function;
mod openapi;
mod read;
mod renew;
mod request;
mod requested_parts;
mod routes;
mod sign;
mod state;

pub use document::{
    PartDocument, PartsDocument, PromisedUpload, ReceivedDocument, UploadDocument, UploadState, UploadStatus,
};
pub use function::Uploads;
pub use request::UploadRequest;
pub use routes::{ROUTES, openapi, router, serve};
