//! Progress of an upload, as S3 reports it; the client's claims are not used.

use longshore::problem::{Kind, Problem};
use longshore_domain::parts::{Multipart, Part, parts};
use longshore_domain::ports::ReceivedPart;
use longshore_domain::ports::UploadPlaces;
use longshore_domain::ports::{PortResult, Upload};
use longshore_domain::time_stamp::Timestamp;

/// The bucket's lifecycle removes no parts before this age.
const KEPT_MILLIS: i64 = 86_400_000;

/// `Retry-After` while another call assembles the file. S3 takes seconds, rarely minutes.
const ASK_AGAIN_SECONDS: u32 = 2;

/// Progress of an upload in S3.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum UploadProgress {
    /// The file exists.
    Received,
    /// Nothing was uploaded yet; the file is uploaded by one PUT.
    Waiting,
    /// These parts were uploaded; the file is not assembled yet.
    InParts(Multipart, Vec<ReceivedPart>),
    /// Neither the file nor the upload in parts exists, within the first day: another call is assembling the file.
    Completing(Multipart),
    /// Neither the file nor the upload in parts exists: it was not completed within a day.
    Abandoned,
}

impl UploadProgress {
    /// Reads the current progress: a HEAD of the file, then for an upload in parts a list of its parts. If the upload
    /// was completed between the two, it has no parts any more, so the file is checked again.
    pub(crate) async fn read<P: UploadPlaces>(places: &P, upload: &Upload, now: Timestamp) -> PortResult<Self> {
        if places.is_received(upload).await? {
            return Ok(Self::Received);
        }
        let Some(multipart) = upload.multipart.clone() else { return Ok(Self::Waiting) };
        match places.received_parts(upload, &multipart).await? {
            Some(received) => Ok(Self::InParts(multipart, received)),
            None if places.is_received(upload).await? => Ok(Self::Received),
            None if now.millis_since(upload.promised_at) < KEPT_MILLIS => Ok(Self::Completing(multipart)),
            None => Ok(Self::Abandoned),
        }
    }
}

/// Returns the parts that are missing or have the wrong size.
pub(crate) fn missing(upload: &Upload, multipart: &Multipart, received: &[ReceivedPart]) -> Vec<Part> {
    let is_there = |part: &Part| received.iter().any(|r| (r.number, r.size_bytes) == (part.number, part.size_bytes));
    parts(upload.size_bytes, multipart.part_bytes).filter(|part| !is_there(part)).collect()
}

/// 409: the file exists already.
pub(crate) fn already_uploaded() -> Problem {
    let detail = "the file of this upload was put already; create a job with its fileGuid, or ask for another upload";
    Problem::new(Kind::AlreadyUploaded, detail)
}

/// 409: another call is assembling the file.
pub(crate) fn completing() -> Problem {
    let detail = "another call is making the file of its parts; ask again in a moment";
    Problem::new(Kind::UploadIncomplete, detail).retry_after(ASK_AGAIN_SECONDS)
}

/// 409: the parts were removed.
pub(crate) fn abandoned() -> Problem {
    let detail = "the upload was not completed within a day, and its parts are gone; ask for another upload";
    Problem::new(Kind::UploadAbandoned, detail)
}
