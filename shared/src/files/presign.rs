//! Uploads and downloads by clients: presigned URLs for one file, valid for a limited time and without any other right;
//! and large uploads in parts, which S3 keeps, lists and assembles.
//!
//! An upload in parts is started with SHA-256 as its algorithm: S3 then accepts a part only with the checksum that is
//! signed into its URL, and the file only with the checksums of its parts.

use std::time::Duration;

use aws_sdk_s3::operation::list_parts::ListPartsOutput;
use aws_sdk_s3::presigning::{PresignedRequest, PresigningConfig};
use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart};
use longshore_domain::parts::{Multipart, PartChecksum};
use longshore_domain::ports::{
    DownloadUrls, Files, MultipartOutcome, PartStorage, PortResult, PutUrl, ReceivedPart, Upload, UploadStorage,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::multipart::number_of;
use super::s3::code;
use super::{NoUploadId, S3Files, failed};

impl UploadStorage for S3Files {
    /// Signs the length, the media type, the checksum (if any), and `If-None-Match: *`, so that S3 accepts only one
    /// PUT.
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        let size = i64::try_from(upload.size_bytes).unwrap_or(i64::MAX);
        let put = self.client.put_object().bucket(&self.bucket).key(&upload.key).if_none_match("*");
        let put = put.content_type(&upload.content_type).content_length(size);
        let put = put.set_checksum_sha256(upload.sha256.clone());
        let signed = put.presigned(for_seconds(seconds, "presign_put")?).await.map_err(failed("presign_put"))?;
        Ok(put_url(&signed))
    }

    /// Sends one HeadObject.
    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.info(&upload.key).await?.is_some())
    }
}

impl DownloadUrls for S3Files {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let get = get.response_content_disposition(content_disposition(file_name));
        let signed = get.presigned(for_seconds(seconds, "presign_get")?).await.map_err(failed("presign_get"))?;
        Ok(signed.uri().to_owned())
    }
}

/// Returns the URL and its signed headers. Within Lambda the SDK adds `x-amzn-trace-id` to every request, unsigned.
fn put_url(signed: &PresignedRequest) -> PutUrl {
    let names = signed_names(signed.uri());
    let headers = signed.headers().filter(|(name, _)| *name != "content-length" && names.contains(name));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    PutUrl { url: signed.uri().to_owned(), headers }
}

/// Returns the names in `X-Amz-SignedHeaders`, which are in lower case.
fn signed_names(url: &str) -> Vec<&str> {
    let list = url.split(['?', '&']).find_map(|parameter| parameter.strip_prefix("X-Amz-SignedHeaders="));
    list.unwrap_or_default().split("%3B").collect()
}

fn for_seconds(seconds: u64, operation: &'static str) -> PortResult<PresigningConfig> {
    PresigningConfig::expires_in(Duration::from_secs(seconds)).map_err(failed(operation))
}

/// All characters but those that RFC 3986 leaves unreserved. RFC 8187 permits these in a value, and some more.
const NOT_IN_VALUES: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns a `Content-Disposition` that saves under any name: an ASCII form for old clients, and the exact one (RFC
/// 6266).
pub fn content_disposition(file_name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() && !"\"\\%;/".contains(c) || c == ' ' { c } else { '_' };
    let ascii: String = file_name.chars().map(plain).collect();
    let exact = utf8_percent_encode(file_name, &NOT_IN_VALUES);
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

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
        let put = put.part_number(number_of(part.number)).content_length(size).checksum_sha256(sha256);
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
    let completed = CompletedPart::builder().part_number(number_of(part.number)).e_tag(&part.etag);
    completed.set_checksum_sha256(part.sha256.clone()).build()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use aws_sdk_s3::config::{Credentials, Region};
    use longshore_domain::ids::FileGuid;
    use longshore_domain::ports::{Upload, UploadStorage};
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::{content_disposition, signed_names};
    use crate::config::Aws;
    use crate::files::S3Files;

    fn upload() -> Upload {
        Upload {
            file_guid: FileGuid::generate(),
            tenant: TenantId::from_static("t"),
            key: "uploads/t/1".into(),
            file_name: "a.csv".into(),
            content_type: "text/csv".into(),
            size_bytes: 3,
            sha256: Some("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".into()),
            multipart: None,
            promised_at: Timestamp(0),
            expires_at: 0,
        }
    }

    #[tokio::test]
    async fn only_signed_headers_are_returned() {
        const TRACE: [(&str, &str); 2] =
            [("AWS_LAMBDA_FUNCTION_NAME", "upload"), ("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793")];
        if std::env::var_os(TRACE[1].0).is_none() {
            // Run the test again in a process that looks like a function.
            let name = "files::presign::tests::only_signed_headers_are_returned";
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.args(["--exact", name]).envs(TRACE).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
        }
        let credentials = Credentials::new("key", "secret", None, None, "test");
        let aws = Aws::new(Region::from_static("eu-central-1"), credentials, None);
        let put = S3Files::new(aws.s3(), "bucket".into()).upload_url(&upload(), 60).await.unwrap();
        let mut listed: Vec<_> = put.headers.iter().map(|(name, _)| name.as_str()).collect();
        listed.extend(["content-length", "host"]);
        listed.sort_unstable();
        assert_eq!(listed, signed_names(&put.url), "{}", put.url);
    }

    #[test]
    fn any_file_name_can_be_used_for_a_download() {
        for (name, expected) in [
            ("a b.csv", "attachment; filename=\"a b.csv\"; filename*=UTF-8''a%20b.csv"),
            ("ü\".csv", "attachment; filename=\"__.csv\"; filename*=UTF-8''%C3%BC%22.csv"),
        ] {
            assert_eq!(content_disposition(name), expected);
        }
    }
}
