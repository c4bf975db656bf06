//! An object that is being written: one PutObject while it is small, a multipart upload once it is not.

use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use longshore_domain::ports::{FileSink, Files, PortResult};

use super::{NoUploadId, S3Files, failed};

/// Bytes of a part, and so the most that a sink holds: S3 takes 10,000 parts of at least 5 MiB, which makes 80 GB.
const PART_BYTES: usize = 8 << 20;

/// An object that is being written; it appears as a whole with `finish`, or not at all.
///
/// A failed call aborts the upload. A sink that is dropped leaves its parts to the bucket's lifecycle rule.
#[derive(Debug)]
pub struct S3Sink {
    files: S3Files,
    key: String,
    content_type: String,
    buffer: Vec<u8>,
    upload: Option<Multipart>,
}

/// A multipart upload under way.
#[derive(Debug)]
struct Multipart {
    id: String,
    parts: Vec<CompletedPart>,
}

impl S3Sink {
    pub(super) fn new(files: S3Files, key: &str, content_type: &str) -> Self {
        Self { files, key: key.into(), content_type: content_type.into(), buffer: Vec::new(), upload: None }
    }

    /// Sends these bytes as the next part, and begins the upload before the first one.
    async fn send_part(&mut self, bytes: Vec<u8>) -> PortResult<()> {
        if self.upload.is_none() {
            self.upload = Some(Multipart { id: self.begin().await?, parts: Vec::new() });
        }
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let number = i32::try_from(upload.parts.len() + 1).unwrap_or(i32::MAX);
        let call = self.files.client.upload_part().bucket(&self.files.bucket).key(&self.key).upload_id(&upload.id);
        let sent = call.part_number(number).body(bytes.into()).send().await.map_err(failed("write"));
        match sent {
            Ok(part) => {
                upload.parts.push(CompletedPart::builder().part_number(number).set_e_tag(part.e_tag).build());
                Ok(())
            }
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    async fn begin(&self) -> PortResult<String> {
        let call = self.files.client.create_multipart_upload().bucket(&self.files.bucket).key(&self.key);
        let begun = call.content_type(&self.content_type).send().await.map_err(failed("create"))?;
        begun.upload_id.ok_or(NoUploadId).map_err(failed("create"))
    }

    async fn complete(&mut self) -> PortResult<()> {
        let Some(upload) = &self.upload else { return Ok(()) };
        let parts = CompletedMultipartUpload::builder().set_parts(Some(upload.parts.clone())).build();
        let call = self.files.client.complete_multipart_upload().bucket(&self.files.bucket).key(&self.key);
        let ended = call.upload_id(&upload.id).multipart_upload(parts).send().await.map_err(failed("finish"));
        if ended.is_err() {
            self.abort().await;
        }
        ended.map(|_| ())
    }

    /// Best effort: what stays behind is removed by the bucket's lifecycle.
    async fn abort(&mut self) {
        if let Some(upload) = self.upload.take() {
            self.files.abort_parts(&self.key, &upload.id).await;
        }
    }
}

impl FileSink for S3Sink {
    async fn write(&mut self, bytes: &[u8]) -> PortResult<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(rest.len().min(PART_BYTES - self.buffer.len()));
            self.buffer.extend_from_slice(head);
            rest = tail;
            if self.buffer.len() == PART_BYTES {
                let part = std::mem::take(&mut self.buffer);
                self.send_part(part).await?;
            }
        }
        Ok(())
    }

    async fn finish(mut self) -> PortResult<()> {
        let last = std::mem::take(&mut self.buffer);
        if self.upload.is_none() {
            return self.files.write(&self.key, &self.content_type, last).await;
        }
        if !last.is_empty() {
            self.send_part(last).await?;
        }
        self.complete().await
    }
}
