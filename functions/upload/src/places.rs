//! Ports to the storage of uploads. They allow tests of the router without signing keys.

use std::future::Future;

use longshore::files::{Completion, MemoryFiles, PutUrl, ReceivedPart, S3Files};
use longshore_domain::parts::Multipart;
use longshore_domain::ports::{Files, PortResult, Upload};

use crate::checksum::PartChecksum;

/// Signs URLs for uploads, and checks if the file exists.
pub trait UploadPlaces: PartPlaces {
    /// Returns a URL that accepts exactly this upload once, within the next `seconds`. Makes no network call.
    fn upload_url(&self, upload: &Upload, seconds: u64) -> impl Future<Output = PortResult<PutUrl>> + Send;
    /// Returns true if and only if the file exists.
    fn is_received(&self, upload: &Upload) -> impl Future<Output = PortResult<bool>> + Send;
}

/// Uploads in parts.
pub trait PartPlaces: Send + Sync {
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
    ) -> impl Future<Output = PortResult<Completion>> + Send;
    /// Aborts an upload that no client can name. Best effort.
    fn abort(&self, upload: &Upload, multipart: &Multipart) -> impl Future<Output = ()> + Send;
}

impl UploadPlaces for S3Files {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        self.presign_put(upload, seconds).await
    }

    /// Sends one HeadObject.
    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.info(&upload.key).await?.is_some())
    }
}

impl PartPlaces for S3Files {
    async fn begin(&self, upload: &Upload) -> PortResult<String> {
        self.begin_parts(upload).await
    }

    async fn part_url(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        part: &PartChecksum,
        seconds: u64,
    ) -> PortResult<PutUrl> {
        self.presign_part((&upload.key, multipart), part.part, &part.sha256, seconds).await
    }

    async fn received_parts(&self, upload: &Upload, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        S3Files::received_parts(self, &upload.key, multipart).await
    }

    async fn complete(&self, upload: &Upload, multipart: &Multipart, parts: &[ReceivedPart]) -> PortResult<Completion> {
        self.complete_parts(upload, multipart, parts).await
    }

    async fn abort(&self, upload: &Upload, multipart: &Multipart) {
        self.abort_parts(&upload.key, &multipart.id).await;
    }
}

/// For tests: the URLs accept no PUT.
impl UploadPlaces for MemoryFiles {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        let checksum = upload.sha256.clone().map(|sha256| ("x-amz-checksum-sha256".to_owned(), sha256));
        let headers = [("content-type".to_owned(), upload.content_type.clone())].into_iter().chain(checksum);
        Ok(PutUrl { url: format!("memory:{}?for={seconds}", upload.key), headers: headers.collect() })
    }

    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.get(&upload.key).is_some())
    }
}

impl PartPlaces for MemoryFiles {
    async fn begin(&self, upload: &Upload) -> PortResult<String> {
        Ok(self.begin_parts(&upload.key))
    }

    async fn part_url(&self, upload: &Upload, _: &Multipart, part: &PartChecksum, seconds: u64) -> PortResult<PutUrl> {
        let url = format!("memory:{}?part={}&for={seconds}", upload.key, part.part.number);
        Ok(PutUrl { url, headers: vec![("x-amz-checksum-sha256".to_owned(), part.sha256.clone())] })
    }

    async fn received_parts(&self, _: &Upload, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        Ok(MemoryFiles::received_parts(self, &multipart.id))
    }

    async fn complete(&self, upload: &Upload, multipart: &Multipart, parts: &[ReceivedPart]) -> PortResult<Completion> {
        self.complete_parts(&upload.key, &multipart.id, parts)
    }

    async fn abort(&self, _: &Upload, multipart: &Multipart) {
        self.abort_parts(&multipart.id);
    }
}
