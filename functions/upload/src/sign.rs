//! Upload instructions with signed URLs.

use longshore_domain::parts::{Multipart, parts};
use longshore_domain::ports::UploadPlaces;
use longshore_domain::ports::{PortResult, Upload};

use crate::document::{PromisedUpload, UploadDocument};
use crate::function::Uploads;
use crate::parts::{PartDocument, PartsDocument};
use longshore_domain::parts::PartChecksum;

/// Time within which the PUT must begin; it may last longer. One hour, so that a person can queue several large files.
const URL_SECONDS: i64 = 3_600;

impl<S, P: UploadPlaces> Uploads<S, P> {
    /// Prepares a new upload for the store. An upload in parts is begun in S3.
    pub(crate) async fn begun(&self, mut upload: Upload, part_bytes: Option<u64>) -> PortResult<Upload> {
        if let Some(part_bytes) = part_bytes {
            upload.multipart = Some(Multipart { id: self.places.begin(&upload).await?, part_bytes });
        }
        Ok(upload)
    }

    /// Returns the upload instructions. For an upload in parts, the requested parts have URLs.
    pub(crate) async fn document(&self, upload: &Upload, wanted: &[PartChecksum]) -> PortResult<PromisedUpload> {
        let Some(multipart) = &upload.multipart else {
            return Ok(PromisedUpload::Whole(self.signed(upload).await?));
        };
        let mut signed = self.signed_parts(upload, multipart, wanted).await?;
        let all = parts(upload.size_bytes, multipart.part_bytes).map(|part| {
            let place = signed.iter().position(|signed| signed.part_number == part.number);
            place.map_or_else(|| PartDocument::planned(part), |place| signed.swap_remove(place))
        });
        Ok(PromisedUpload::InParts(PartsDocument::new(upload, multipart, all.collect())))
    }

    /// Signs a URL for an upload by one PUT.
    pub(crate) async fn signed(&self, upload: &Upload) -> PortResult<UploadDocument> {
        let signed = self.places.upload_url(upload, URL_SECONDS.unsigned_abs()).await?;
        Ok(UploadDocument::new(upload, signed, (self.clock)().plus_seconds(URL_SECONDS)))
    }

    /// Signs URLs for parts, each with its SHA-256.
    pub(crate) async fn signed_parts(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        wanted: &[PartChecksum],
    ) -> PortResult<Vec<PartDocument>> {
        let until = (self.clock)().plus_seconds(URL_SECONDS);
        let mut signed = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let url = self.places.part_url(upload, multipart, wanted, URL_SECONDS.unsigned_abs()).await?;
            signed.push(PartDocument::signed(wanted.part, url, until));
        }
        Ok(signed)
    }
}
