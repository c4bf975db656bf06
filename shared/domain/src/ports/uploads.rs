//! Storage of the files that clients upload and download themselves, with signed URLs.

use std::future::Future;

use super::{MultipartOutcome, PortResult, Upload};
use crate::parts::{Multipart, PartChecksum};

/// A URL for one PUT, and the headers that must come with it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PutUrl {
    /// The URL.
    pub url: String,
    /// Signed headers: a request without them, or with other values, is refused. `content-length` is signed too but
    /// not listed, because every HTTP client sends it by itself. Nothing else is listed: a browser asks S3 by CORS
    /// for every header that it will send, and S3 refuses those that the bucket does not expect.
    pub headers: Vec<(String, String)>,
}

/// A part that S3 has received.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ReceivedPart {
    /// Number of the part, from 1.
    pub number: u32,
    /// Size of the part.
    pub size_bytes: u64,
    /// SHA-256 in base64, as computed by S3.
    pub sha256: Option<String>,
    /// Entity tag of the bytes: it changes if the part is uploaded again.
    pub etag: String,
}

/// Signs URLs for uploads, and checks if the file exists.
pub trait UploadStorage: PartStorage {
    /// Returns a URL that accepts exactly this upload once, within the next `seconds`. Makes no network call.
    fn upload_url(&self, upload: &Upload, seconds: u64) -> impl Future<Output = PortResult<PutUrl>> + Send;
    /// Returns true if and only if the file exists.
    fn is_received(&self, upload: &Upload) -> impl Future<Output = PortResult<bool>> + Send;
}

/// Uploads in parts.
pub trait PartStorage: Send + Sync {
    /// Begins an upload in parts and returns its id for the calls below.
    fn begin(&self, upload: &Upload) -> impl Future<Output = PortResult<String>> + Send;
    /// Returns a URL that accepts exactly this part with this SHA-256 (base64), within the next `seconds`. Makes no
    /// network call.
    fn part_url(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        part: &PartChecksum,
        seconds: u64,
    ) -> impl Future<Output = PortResult<PutUrl>> + Send;
    /// Returns the uploaded parts in order, or `None` if the upload in parts no longer exists.
    fn received_parts(
        &self,
        upload: &Upload,
        multipart: &Multipart,
    ) -> impl Future<Output = PortResult<Option<Vec<ReceivedPart>>>> + Send;
    /// Assembles the file from these parts, once.
    fn complete(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        parts: &[ReceivedPart],
    ) -> impl Future<Output = PortResult<MultipartOutcome>> + Send;
    /// Aborts an upload that no client can name. Best effort.
    fn abort(&self, upload: &Upload, multipart: &Multipart) -> impl Future<Output = ()> + Send;
}

/// Signs download links.
pub trait DownloadUrls: Send + Sync {
    /// Returns a URL with which a browser saves the file as `file_name`, valid for `seconds`. Makes no network call.
    fn download_url(&self, key: &str, file_name: &str, seconds: u64)
    -> impl Future<Output = PortResult<String>> + Send;
}
