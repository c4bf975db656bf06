//! Uploads that clients put part by part: S3 keeps the parts, says which it has, and makes the file of them.
//!
//! The upload is begun with SHA-256 as its algorithm: S3 then takes a part only under the checksum that is signed into its
//! URL, and the file only by the checksums of its parts.

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::list_parts::ListPartsOutput;
use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart};
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::{PortResult, Upload};

use super::presign::{for_seconds, put_url};
use super::{NoUploadId, PutUrl, S3Files, failed};

/// A part that S3 has.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ReceivedPart {
    /// Its place, from 1.
    pub number: u32,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 in base64, as S3 has computed it.
    pub sha256: Option<String>,
    /// Which bytes these are: a part that is put again has another.
    pub etag: String,
}

/// What the end of an upload in parts met.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Completion {
    /// The file is there.
    Done,
    /// There is no such upload any more, or a file is there already: it is or was completed by another call, or removed.
    Gone,
    /// A part is another one than was listed: it was put again meanwhile, or the upload was completed by another call.
    Changed,
}

impl S3Files {
    /// CreateMultipartUpload: S3's name for the upload. Nobody sees one that is never completed, and the bucket's lifecycle
    /// removes it.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn begin_parts(&self, upload: &Upload) -> PortResult<String> {
        let call = self.client.create_multipart_upload().bucket(&self.bucket).key(&upload.key);
        let call = call.content_type(&upload.content_type).checksum_algorithm(ChecksumAlgorithm::Sha256);
        let begun = call.send().await.map_err(failed("begin_parts"))?;
        begun.upload_id.ok_or(NoUploadId).map_err(failed("begin_parts"))
    }

    /// A URL that takes exactly this part: its length, and the bytes of this SHA-256 (base64). It can be put again.
    ///
    /// # Errors
    /// If `seconds` is more than a week. No call is made.
    pub async fn presign_part(
        &self,
        (key, multipart): (&str, &Multipart),
        part: Part,
        sha256: &str,
        seconds: u64,
    ) -> PortResult<PutUrl> {
        let size = i64::try_from(part.size_bytes).unwrap_or(i64::MAX);
        let put = self.client.upload_part().bucket(&self.bucket).key(key).upload_id(&multipart.id);
        let put = put.part_number(number(part.number)).content_length(size).checksum_sha256(sha256);
        let signed = put.presigned(for_seconds(seconds, "presign_part")?).await.map_err(failed("presign_part"))?;
        Ok(put_url(&signed))
    }

    /// ListParts: the parts that S3 has, in order; none if there is no such upload any more. A page of S3's has a thousand,
    /// and there are never so many.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn received_parts(&self, key: &str, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        let call = self.client.list_parts().bucket(&self.bucket).key(key).upload_id(&multipart.id);
        match call.send().await {
            Ok(list) => Ok(Some(received(list))),
            Err(error) if code(&error) == "NoSuchUpload" => Ok(None),
            Err(error) => Err(failed("received_parts")(error)),
        }
    }

    /// CompleteMultipartUpload with `If-None-Match: *`: makes the file of these parts, once. S3 compares their sum with the
    /// promised size. Harmless twice: what it then meets is [`Completion::Gone`].
    ///
    /// # Errors
    /// If the call fails.
    pub async fn complete_parts(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        parts: &[ReceivedPart],
    ) -> PortResult<Completion> {
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts.iter().map(completed).collect())).build();
        let call = self.client.complete_multipart_upload().bucket(&self.bucket).key(&upload.key);
        let call = call.upload_id(&multipart.id).if_none_match("*").multipart_upload(parts);
        let size = i64::try_from(upload.size_bytes).unwrap_or(i64::MAX);
        match call.mpu_object_size(size).send().await {
            Ok(_) => Ok(Completion::Done),
            Err(error) => match code(&error) {
                "NoSuchUpload" | "PreconditionFailed" | "ConditionalRequestConflict" | "OperationAborted" => {
                    Ok(Completion::Gone)
                }
                "InvalidPart" => Ok(Completion::Changed),
                _ => Err(failed("complete_parts")(error)),
            },
        }
    }

    /// AbortMultipartUpload, as well as it can be done: what stays is removed by the bucket's lifecycle.
    pub async fn abort_parts(&self, key: &str, upload_id: &str) {
        let call = self.client.abort_multipart_upload().bucket(&self.bucket).key(key).upload_id(upload_id);
        if let Err(error) = call.send().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "an unfinished upload could not be aborted");
        }
    }
}

fn received(list: ListPartsOutput) -> Vec<ReceivedPart> {
    let part = |part: aws_sdk_s3::types::Part| ReceivedPart {
        number: part.part_number().and_then(|number| number.try_into().ok()).unwrap_or(0),
        size_bytes: part.size().and_then(|size| size.try_into().ok()).unwrap_or(0),
        sha256: part.checksum_sha256,
        etag: part.e_tag.unwrap_or_default(),
    };
    list.parts.unwrap_or_default().into_iter().map(part).collect()
}

fn completed(part: &ReceivedPart) -> CompletedPart {
    let completed = CompletedPart::builder().part_number(number(part.number)).e_tag(&part.etag);
    completed.set_checksum_sha256(part.sha256.clone()).build()
}

fn number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// What S3 calls an error; empty if it was none of S3's.
pub(super) fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.as_service_error().and_then(ProvideErrorMetadata::code).unwrap_or_default()
}
