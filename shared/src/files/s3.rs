//! The files of one S3 bucket.

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::{GetObjectError, GetObjectOutput};
use aws_sdk_s3::primitives::ByteStream;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileInfo, FileStream, Files, PortResult, PrefixRemoval, Read, Unavailable};

use super::{failed, unanswered};

/// The files of one bucket.
#[derive(Clone, Debug)]
pub struct S3Files {
    pub(super) client: aws_sdk_s3::Client,
    pub(super) bucket: String,
}

impl S3Files {
    /// Creates the files of this bucket.
    pub fn new(client: aws_sdk_s3::Client, bucket: String) -> Self {
        Self { client, bucket }
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

impl Files for S3Files {
    type Stream = S3Stream;

    /// HeadObject.
    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        match self.client.head_object().bucket(&self.bucket).key(key).send().await {
            Ok(head) => Ok(Some(FileInfo {
                size_bytes: head.content_length().and_then(|size| size.try_into().ok()).unwrap_or(0),
                etag: head.e_tag.unwrap_or_default(),
            })),
            Err(error) if error.as_service_error().is_some_and(|e| e.is_not_found()) => Ok(None),
            Err(error) => Err(failed("info")(error)),
        }
    }

    /// GetObject with `Range` and `If-Match`. A range that begins at the end of the file gives an empty stream.
    async fn open(&self, key: &str, etag: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<S3Stream>> {
        if end.is_some_and(|end| end <= start) {
            return Ok(Read::Found(S3Stream::empty()));
        }
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let get = get.set_if_match(etag.map(str::to_owned)).set_range(range(start, end));
        match get.send().await {
            Ok(object) => Ok(Read::Found(S3Stream::from_output(object))),
            Err(error) => refusal(error),
        }
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        let (start, end) = plan.map_or((0, None), |plan| (plan.start, Some(plan.end)));
        let mut breaks = 0;
        loop {
            let stream = match self.open(key, etag, start, end).await? {
                Read::Found(stream) => stream,
                Read::Absent => return Ok(Read::Absent),
                Read::Changed => return Ok(Read::Changed),
            };
            match read_all(stream).await {
                Err(_) if breaks < BREAKS => breaks += 1,
                read => return read.map(Read::Found),
            }
        }
    }

    /// PutObject: idempotent.
    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        let put = self.client.put_object().bucket(&self.bucket).key(key).content_type(content_type);
        put.body(bytes.into()).send().await.map(|_| ()).map_err(unanswered("write"))
    }

    /// DeleteObject: idempotent.
    async fn remove(&self, key: &str) -> PortResult<()> {
        let delete = self.client.delete_object().bucket(&self.bucket).key(key);
        delete.send().await.map(|_| ()).map_err(failed("remove"))
    }

    /// ListObjectsV2 and DeleteObjects of one page: idempotent.
    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.remove_page(prefix).await
    }
}

/// Maximum number of breaks of a body before a read fails: the SDK repeats calls, but does not resume their bodies.
const BREAKS: u32 = 2;

async fn read_all(mut stream: S3Stream) -> PortResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(stream.size_bytes());
    while let Some(block) = stream.next().await? {
        bytes.extend_from_slice(&block);
    }
    Ok(bytes)
}

/// Returns the `Range` from `start` to `end` (exclusive); `None` for a whole file, because an empty file has no first
/// byte.
fn range(start: u64, end: Option<u64>) -> Option<String> {
    match (start, end) {
        (0, None) => None,
        (start, None) => Some(format!("bytes={start}-")),
        (start, Some(end)) => Some(format!("bytes={start}-{}", end - 1)),
    }
}

fn refusal(error: SdkError<GetObjectError, aws_sdk_s3::config::http::HttpResponse>) -> PortResult<Read<S3Stream>> {
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code).map(str::to_owned);
    match code.as_deref() {
        Some("NoSuchKey") => Ok(Read::Absent),
        Some("PreconditionFailed") => Ok(Read::Changed),
        Some("InvalidRange") => Ok(Read::Found(S3Stream::empty())),
        _ => Err(unanswered("open")(error)),
    }
}

/// An object that is being read. A connection that breaks in the middle is an error: the reader resumes from its own
/// last position.
#[derive(Debug)]
pub struct S3Stream {
    body: ByteStream,
    size_bytes: usize,
}

impl S3Stream {
    fn from_output(object: GetObjectOutput) -> Self {
        let size = object.content_length().and_then(|size| size.try_into().ok()).unwrap_or(0);
        Self::new(object.body, size)
    }

    fn new(body: ByteStream, size_bytes: usize) -> Self {
        Self { body, size_bytes }
    }

    /// Returns an empty stream.
    fn empty() -> Self {
        Self::new(ByteStream::default(), 0)
    }

    /// Returns the number of bytes that S3 announced.
    fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl FileStream for S3Stream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let block = self.body.try_next().await.map_err(|error| failed("read")(Unavailable(error.into())))?;
        Ok(block.map(Vec::from))
    }
}

/// Returns S3's code of an error; empty if the error is not from S3.
pub(super) fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.as_service_error().and_then(ProvideErrorMetadata::code).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn the_end_of_an_http_range_is_inclusive() {
        assert_eq!(range(0, None), None);
        assert_eq!(range(5, None).as_deref(), Some("bytes=5-"));
        assert_eq!(range(0, Some(1)).as_deref(), Some("bytes=0-0"));
        assert_eq!(range(5, Some(9)).as_deref(), Some("bytes=5-8"));
    }
}
