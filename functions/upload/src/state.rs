//! How far an upload has come: S3 is asked, the client is not.

use longshore::files::ReceivedPart;
use longshore::problem::{Kind, Problem};
use longshore_domain::parts::{Multipart, Part, parts};
use longshore_domain::ports::{PortResult, Upload};
use longshore_domain::time_stamp::Timestamp;

use crate::UploadPlaces;

/// Not before this time the bucket's lifecycle removes parts.
const KEPT_MILLIS: i64 = 86_400_000;

/// When to ask again while another call makes the file. S3 takes seconds for it, rarely minutes.
const ASK_AGAIN_SECONDS: u32 = 2;

/// What S3 has of an upload.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum UploadProgress {
    /// The file is there.
    Received,
    /// Nothing was put yet, and one PUT brings all.
    Waiting,
    /// These parts were put, and the file is not made of them yet.
    InParts(Multipart, Vec<ReceivedPart>),
    /// There is no file yet and no upload in parts any more: another call is making one of the other.
    Completing(Multipart),
    /// There is no file, and no upload in parts any more: it was not completed within a day.
    Abandoned,
}

impl UploadProgress {
    /// Of an upload, now. A HEAD of the file, and of an upload in parts a list of them. One that was completed between the two
    /// has no parts any more, so the file is looked for again.
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

/// The parts of an upload that are not there, or not of the size that they must have.
pub(crate) fn missing(upload: &Upload, multipart: &Multipart, received: &[ReceivedPart]) -> Vec<Part> {
    let is_there = |part: &Part| received.iter().any(|r| (r.number, r.size_bytes) == (part.number, part.size_bytes));
    parts(upload.size_bytes, multipart.part_bytes).filter(|part| !is_there(part)).collect()
}

/// 409: the file is there.
pub(crate) fn already_uploaded() -> Problem {
    let detail = "the file of this upload was put already; create a job with its fileGuid, or ask for another upload";
    Problem::new(Kind::AlreadyUploaded, detail)
}

/// 409: the file is being made of its parts.
pub(crate) fn completing() -> Problem {
    let detail = "another call is making the file of its parts; ask again in a moment";
    Problem::new(Kind::UploadIncomplete, detail).retry_after(ASK_AGAIN_SECONDS)
}

/// 409: the parts are gone.
pub(crate) fn abandoned() -> Problem {
    let detail = "the upload was not completed within a day, and its parts are gone; ask for another upload";
    Problem::new(Kind::UploadAbandoned, detail)
}
