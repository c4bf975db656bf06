//! Progress of an upload according to S3. The client's claims are not used.

use longshore::problem::{Kind, Problem};
use longshore_domain::parts::{Multipart, Part, parts};
use longshore_domain::ports::ReceivedPart;
use longshore_domain::ports::UploadStorage;
use longshore_domain::ports::{PortResult, Upload};
use longshore_domain::timestamp::Timestamp;

/// The bucket's lifecycle removes no parts before this age.
const PARTS_RETENTION_MS: i64 = 86_400_000;

/// `Retry-After` while another call assembles the file. S3 takes seconds, rarely minutes.
const RETRY_AFTER_S: u32 = 2;

/// Progress of an upload in S3.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum UploadProgress {
    /// The file exists.
    Received,
    /// Nothing has been uploaded yet. The file is uploaded by one PUT.
    Waiting,
    /// These parts have been uploaded. The file is not assembled yet.
    InParts(Multipart, Vec<ReceivedPart>),
    /// Neither the file nor the upload in parts exists, within the first day: another call is assembling the file.
    Completing(Multipart),
    /// Neither the file nor the upload in parts exists: it was not completed within a day.
    Abandoned,
}

impl UploadProgress {
    /// Reads the current progress: a HEAD of the file, then, for an upload in parts, the list of its parts. If the
    /// upload was completed in between, the list no longer exists, so the file is checked again.
    pub(crate) async fn read<P: UploadStorage>(storage: &P, upload: &Upload, now: Timestamp) -> PortResult<Self> {
        if storage.is_received(upload).await? {
            return Ok(Self::Received);
        }
        let Some(multipart) = upload.multipart.clone() else { return Ok(Self::Waiting) };
        match storage.received_parts(upload, &multipart).await? {
            Some(received) => Ok(Self::InParts(multipart, received)),
            None if storage.is_received(upload).await? => Ok(Self::Received),
            None if now.millis_since(upload.promised_at) < PARTS_RETENTION_MS => Ok(Self::Completing(multipart)),
            None => Ok(Self::Abandoned),
        }
    }
}

/// Returns the parts that are missing or have the wrong size.
pub(crate) fn missing(upload: &Upload, multipart: &Multipart, received: &[ReceivedPart]) -> Vec<Part> {
    let is_received = |part: &Part| received.iter().any(|r| (r.number, r.size_bytes) == (part.number, part.size_bytes));
    parts(upload.size_bytes, multipart.part_bytes).filter(|part| !is_received(part)).collect()
}

/// 409: the file exists already.
pub(crate) fn already_uploaded() -> Problem {
    let detail =
        "the file of this upload has already been uploaded; create a job with its fileGuid, or create another upload";
    Problem::new(Kind::AlreadyUploaded, detail)
}

/// 409: another call is assembling the file.
pub(crate) fn completing() -> Problem {
    let detail = "another call is assembling the file; retry in a moment";
    Problem::new(Kind::UploadIncomplete, detail).retry_after(RETRY_AFTER_S)
}

/// 409: the parts were removed.
pub(crate) fn abandoned() -> Problem {
    let detail = "the upload was not completed within a day, and its parts were removed; create another upload";
    Problem::new(Kind::UploadAbandoned, detail)
}
