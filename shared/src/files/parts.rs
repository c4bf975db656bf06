//! Uploads that clients send part by part: S3 keeps the parts, lists them, and assembles the file.
//!
//! The upload is started with SHA-256 as its algorithm: S3 then accepts a part only with the checksum that is signed
//! into its URL, and the file only with the checksums of its parts.

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::list_parts::ListPartsOutput;
use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart};
use longshore_domain::parts::{Multipart, PartChecksum};
use longshore_domain::ports::{MultipartOutcome, PartStorage, PortResult, PutUrl, ReceivedPart, Upload};

use super::presign::{for_seconds, put_url};
use super::{NoUploadId, S3Files, failed};

impl PartStorage for S3Files {
    /// CreateMultipartUpload: returns S3's id of the upload. An upload that is never completed is invisible, and the
    /// bucket's lifecycle removes it.
    async fn begin(&self, upload: &Upload) -> PortResult<String> {
        let call = self.client.create_multipart_upload().bucket(&self.bucket).key(&upload.key);
        let call = call.content_type(&upload.content_type).checksum_algorithm(ChecksumAlgorithm::Sha256);
        let created = call.send().await.map_err(failed("begin_parts"))?;
        created.upload_id.ok_or(NoUploadId).map_err(failed("begin_parts"))
    }

    /// Returns a URL that accepts exactly this part: its length, and the bytes of this SHA-256 (base64). The part can
    /// be uploaded again.
    async fn part_url(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        PartChecksum { part, sha256 }: &PartChecksum,
        seconds: u64,
    ) -> PortResult<PutUrl> {
        let size = i64::try_from(part.size_bytes).unwrap_or(i64::MAX);
        let put = self.client.upload_part().bucket(&self.bucket).key(&upload.key).upload_id(&multipart.id);
        let put = put.part_number(number(part.number)).content_length(size).checksum_sha256(sha256);
        let signed = put.presigned(for_seconds(seconds, "presign_part")?).await.map_err(failed("presign_part"))?;
        Ok(put_url(&signed))
    }

    /// ListParts: returns the parts that S3 has, in order; `None` if the upload no longer exists. A page holds a
    /// thousand parts, and an upload never has more.
    async fn received_parts(&self, upload: &Upload, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        let call = self.client.list_parts().bucket(&self.bucket).key(&upload.key).upload_id(&multipart.id);
        match call.send().await {
            Ok(list) => Ok(Some(received(list))),
            Err(error) if code(&error) == "NoSuchUpload" => Ok(None),
            Err(error) => Err(failed("received_parts")(error)),
        }
    }

    /// CompleteMultipartUpload with `If-None-Match: *`: assembles the file from these parts, once. S3 compares their
    /// total with the promised size. Idempotent: a repeated call returns [`MultipartOutcome::Gone`].
    async fn complete(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        parts: &[ReceivedPart],
    ) -> PortResult<MultipartOutcome> {
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts.iter().map(completed).collect())).build();
        let call = self.client.complete_multipart_upload().bucket(&self.bucket).key(&upload.key);
        let call = call.upload_id(&multipart.id).if_none_match("*").multipart_upload(parts);
        let size = i64::try_from(upload.size_bytes).unwrap_or(i64::MAX);
        match call.mpu_object_size(size).send().await {
            Ok(_) => Ok(MultipartOutcome::Completed),
            Err(error) => match code(&error) {
                "NoSuchUpload" | "PreconditionFailed" | "ConditionalRequestConflict" | "OperationAborted" => {
                    Ok(MultipartOutcome::Gone)
                }
                "InvalidPart" => Ok(MultipartOutcome::Changed),
                _ => Err(failed("complete_parts")(error)),
            },
        }
    }

    async fn abort(&self, upload: &Upload, multipart: &Multipart) {
        self.abort_parts(&upload.key, &multipart.id).await;
    }
}

impl S3Files {
    /// AbortMultipartUpload, best effort: the bucket's lifecycle removes parts that stay.
    pub(super) async fn abort_parts(&self, key: &str, upload_id: &str) {
        let call = self.client.abort_multipart_upload().bucket(&self.bucket).key(key).upload_id(upload_id);
        if let Err(error) = call.send().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot abort an unfinished upload");
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

/// Returns S3's code of an error; empty if the error is not from S3.
pub(super) fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.as_service_error().and_then(ProvideErrorMetadata::code).unwrap_or_default()
}
