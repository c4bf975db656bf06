//! Files that Longshore writes part by part: S3's multipart upload. The parts that clients upload are in `presign`.

use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use longshore_domain::ports::{MultipartFiles, MultipartOutcome, MultipartUpload, PortResult};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::s3::code;
use super::{NoUploadId, S3Files, failed};

impl MultipartFiles for S3Files {
    /// CreateMultipartUpload.
    async fn create_multipart(&self, key: &str, content_type: &str) -> PortResult<MultipartUpload> {
        let call = self.client.create_multipart_upload().bucket(&self.bucket).key(key).content_type(content_type);
        let created = call.send().await.map_err(failed("create_multipart"))?;
        let id = created.upload_id.ok_or(NoUploadId).map_err(failed("create_multipart"))?;
        Ok(MultipartUpload { key: key.to_owned(), id })
    }

    /// UploadPart: idempotent.
    async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>> {
        let call = self.client.upload_part().bucket(&self.bucket).key(&upload.key).upload_id(&upload.id);
        match call.part_number(number_of(number)).body(bytes.into()).send().await {
            Ok(part) => Ok(Some(part.e_tag.unwrap_or_default())),
            Err(error) if code(&error) == "NoSuchUpload" => Ok(None),
            Err(error) => Err(failed("upload_part")(error)),
        }
    }

    /// UploadPartCopy: idempotent. S3 sends headers first, and reports a failed copy as an error in the body, which the
    /// SDK returns as an error: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html>.
    async fn copy_part(&self, upload: &MultipartUpload, number: u32, from: &str) -> PortResult<Option<String>> {
        let call = self.client.upload_part_copy().bucket(&self.bucket).key(&upload.key).upload_id(&upload.id);
        let call = call.part_number(number_of(number)).copy_source(format!("{}/{}", self.bucket, encoded(from)));
        match call.send().await {
            Ok(part) => Ok(Some(part.copy_part_result.and_then(|part| part.e_tag).unwrap_or_default())),
            Err(error) if code(&error) == "NoSuchUpload" => Ok(None),
            Err(error) => Err(failed("copy_part")(error)),
        }
    }

    /// CompleteMultipartUpload. If the response of a successful call was lost, the repeated call finds no upload: the
    /// caller checks whether the file exists.
    async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome> {
        let part = |(number, etag): (u32, &String)| {
            CompletedPart::builder().part_number(number_of(number)).e_tag(etag).build()
        };
        let parts = CompletedMultipartUpload::builder().set_parts(Some((1..).zip(etags).map(part).collect())).build();
        let call = self.client.complete_multipart_upload().bucket(&self.bucket).key(&upload.key);
        match call.upload_id(&upload.id).multipart_upload(parts).send().await {
            Ok(_) => Ok(MultipartOutcome::Completed),
            Err(error) if code(&error) == "NoSuchUpload" => Ok(MultipartOutcome::Gone),
            Err(error) if code(&error) == "InvalidPart" => Ok(MultipartOutcome::Changed),
            Err(error) => Err(failed("complete_multipart")(error)),
        }
    }

    /// AbortMultipartUpload; the bucket's lifecycle removes parts that stay.
    async fn abort_multipart(&self, upload: &MultipartUpload) {
        self.abort_parts(&upload.key, &upload.id).await;
    }
}

/// The characters of a key that are percent-encoded in the source of a copy: all but the unreserved ones of RFC 3986 and
/// the slash.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

fn encoded(key: &str) -> PercentEncode<'_> {
    utf8_percent_encode(key, RESERVED)
}

/// Returns a part's number as the SDK expects it.
pub(super) fn number_of(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
