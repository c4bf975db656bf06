//! Upload instructions with signed URLs.

use longshore_domain::parts::{Multipart, PartChecksum, parts};
use longshore_domain::ports::{PortResult, Upload, UploadStorage};

use crate::document::{PartDocument, PartsDocument, PromisedUpload, UploadDocument};
use crate::function::Uploads;

/// Time within which the PUT must begin; it may last longer. One hour, so that a person can queue several large files.
const URL_SECONDS: i64 = 3_600;

impl<S, P: UploadStorage> Uploads<S, P> {
    /// Prepares a new upload for the store: begins an upload in parts in S3.
    pub(crate) async fn begin(&self, mut upload: Upload, part_bytes: Option<u64>) -> PortResult<Upload> {
        if let Some(part_bytes) = part_bytes {
            upload.multipart = Some(Multipart { id: self.storage.begin(&upload).await?, part_bytes });
        }
        Ok(upload)
    }

    /// Returns the upload instructions. For an upload in parts, the requested parts have URLs.
    pub(crate) async fn document(&self, upload: &Upload, requested: &[PartChecksum]) -> PortResult<PromisedUpload> {
        let Some(multipart) = &upload.multipart else {
            return Ok(PromisedUpload::Whole(self.signed(upload).await?));
        };
        let mut signed = self.signed_parts(upload, multipart, requested).await?;
        let parts = parts(upload.size_bytes, multipart.part_bytes).map(|part| {
            let index = signed.iter().position(|signed| signed.part_number == part.number);
            index.map_or_else(|| PartDocument::planned(part), |index| signed.swap_remove(index))
        });
        Ok(PromisedUpload::InParts(PartsDocument::new(upload, multipart, parts.collect())))
    }

    /// Signs a URL for an upload by one PUT.
    pub(crate) async fn signed(&self, upload: &Upload) -> PortResult<UploadDocument> {
        let signed = self.storage.upload_url(upload, URL_SECONDS.unsigned_abs()).await?;
        Ok(UploadDocument::new(upload, signed, (self.clock)().plus_seconds(URL_SECONDS)))
    }

    /// Signs URLs for parts, each with its SHA-256.
    pub(crate) async fn signed_parts(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        requested: &[PartChecksum],
    ) -> PortResult<Vec<PartDocument>> {
        let expires_at = (self.clock)().plus_seconds(URL_SECONDS);
        let mut signed = Vec::with_capacity(requested.len());
        for part in requested {
            let url = self.storage.part_url(upload, multipart, part, URL_SECONDS.unsigned_abs()).await?;
            signed.push(PartDocument::signed(part.part, url, expires_at));
        }
        Ok(signed)
    }
}
