//! What is sent to the bucket, and tried again.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use ureq::SendBody;

use super::checksums::Checksums;
use super::{Part, ReceivedPart, State, Upload};
use crate::api::answer::Answer;
use crate::api::client::Api;
use crate::api::file::LocalFile;
use crate::api::http::{Transient, no_answer};

/// Number of parts that are sent at once. A browser sends as many.
const CONCURRENT_PARTS: usize = 4;

/// Number of times that a PUT is tried.
const MAX_TRIES: u32 = 6;

/// Delay before the second try; doubled for each further one.
const BACK_OFF: Duration = Duration::from_millis(500);

/// Time in which S3 assembles the parts: minutes for a large file.
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>
const ASSEMBLY: Duration = Duration::from_secs(300);

/// A presigned URL, and the headers that must be sent with it.
#[derive(Deserialize, Clone)]
pub(super) struct Target {
    url: String,
    headers: BTreeMap<String, String>,
}

/// An upload that is sent.
pub(super) struct Sender<'a> {
    pub(super) api: &'a Api,
    pub(super) file: &'a LocalFile,
    pub(super) checksums: &'a Checksums,
    pub(super) upload: &'a Upload,
    /// Called with the bytes since the last call; negative if they have to be sent again.
    pub(super) sent: &'a (dyn Fn(i64) + Sync),
}

/// Bytes of the file that are sent by one PUT.
struct Piece<'a> {
    offset: u64,
    size: u64,
    checksum: &'a [u8],
    /// The request for another URL; `None` for that of the whole file.
    renewal: Option<Value>,
}

impl Sender<'_> {
    /// Sends the file by one PUT.
    pub(super) fn whole(&self, target: Target) -> Result<()> {
        let (size, checksum) = (self.file.size_bytes(), self.checksums.whole());
        self.put(Some(target), &Piece { offset: 0, size, checksum, renewal: None })
    }

    /// Sends the parts that S3 has not received, several at once, and assembles them.
    pub(super) fn parts(&self, received: &[ReceivedPart]) -> Result<()> {
        let has = |part: &&Part| received.iter().any(|received| self.is_same(part, received));
        let (done, waiting): (Vec<_>, Vec<_>) = self.upload.parts.iter().partition(has);
        (self.sent)(done.iter().map(|part| part.size as i64).sum());
        let waiting = Mutex::new(waiting.into_iter());
        let failed = OnceLock::new();
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(part) = next().filter(|_| failed.get().is_none()) {
                if let Err(error) = self.part(part) {
                    // The first error is reported.
                    let _ = failed.set(error);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..CONCURRENT_PARTS {
                scope.spawn(work);
            }
        });
        self.file.check_unchanged()?;
        match failed.into_inner() {
            None => self.complete(),
            // Another command has sent the same file, and assembles it.
            Some(_) if self.is_received()? => Ok(()),
            Some(error) => Err(error),
        }
    }

    fn is_same(&self, part: &Part, received: &ReceivedPart) -> bool {
        let checksum = self.checksums.part(part.part_number).map(|checksum| STANDARD.encode(checksum));
        (received.part_number, received.size) == (part.part_number, part.size) && received.sha256 == checksum
    }

    fn part(&self, part: &Part) -> Result<()> {
        let number = part.part_number;
        let planned = "the deployment has planned parts of another size: update longshore";
        let (checksum, bytes) =
            (self.checksums.part(number).context(planned)?, self.checksums.part_bytes.context(planned)?);
        let wanted = json!({ "partNumber": number, "sha256": HEXLOWER.encode(checksum) });
        let renewal = Some(json!({ "parts": [wanted] }));
        self.put(part.target.clone(), &Piece { offset: (number - 1) * bytes, size: part.size, checksum, renewal })
    }

    /// Sends bytes to the bucket, again after any fault, with another URL each time: the first may have expired, and an
    /// answer of S3 may be lost.
    fn put(&self, target: Option<Target>, piece: &Piece<'_>) -> Result<()> {
        let action = "sending the file to the storage";
        let mut bytes = vec![0; usize::try_from(piece.size)?];
        self.file.read_at(piece.offset, &mut bytes)?;
        if Sha256::digest(&bytes).as_slice() != piece.checksum {
            return Err(self.file.changed());
        }
        let (mut target, mut failed) = (target, None);
        for retry in 0..MAX_TRIES {
            if retry > 0 {
                sleep(BACK_OFF * 2_u32.pow(retry - 1));
            }
            let url = match target.take().map_or_else(|| self.url(piece), |target| Ok(Some(target))) {
                Ok(Some(url)) => url,
                Ok(None) => return Ok(()),
                Err(error) if error.is::<Transient>() => {
                    failed = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match self.try_put(&url, &bytes) {
                // The object exists: an earlier try has arrived, although its answer has not.
                Ok(answer) if matches!(answer.status(), 200 | 412) => return Ok(()),
                Ok(answer) => failed = answer.stored(action).err(),
                Err(error) => failed = Some(error.context(action)),
            }
            (self.sent)(-(bytes.len() as i64));
        }
        Err(failed.unwrap_or_else(|| Transient(action.to_owned()).into()))
    }

    /// Sends the bytes. They count as sent, whatever the answer is.
    fn try_put(&self, target: &Target, bytes: &[u8]) -> Result<Answer> {
        let mut body = Counted { bytes, sent: self.sent };
        let mut put = ureq::http::Request::put(&target.url).header("content-length", bytes.len());
        for (name, value) in &target.headers {
            put = put.header(name, value);
        }
        let response = self.api.agent.run(put.body(SendBody::from_reader(&mut body))?);
        (self.sent)(body.bytes.len() as i64);
        Ok(Answer { response: response.map_err(|error| no_answer("the storage", &error))? })
    }

    /// Returns another URL; `None` if the file was received.
    fn url(&self, piece: &Piece<'_>) -> Result<Option<Target>> {
        let action = "requesting a URL of the storage";
        let path = format!("{}/url", self.upload.path());
        let answer = self.api.repeat("POST", &path, &[], piece.renewal.as_ref(), action)?;
        if answer.status() >= 400 {
            let refusal = answer.refusal();
            return if refusal.is_kind("already-uploaded") { Ok(None) } else { Err(refusal.error(action)) };
        }
        let renewed: Upload = answer.json(action)?;
        let target = renewed.target.or_else(|| renewed.parts.into_iter().next()?.target);
        target.map(Some).with_context(|| format!("{action}: the answer has none"))
    }

    /// Assembles the parts. Another call can be doing so.
    fn complete(&self) -> Result<()> {
        let action = "completing the upload";
        let start = Instant::now();
        loop {
            let answer = self.api.repeat("POST", &format!("{}/complete", self.upload.path()), &[], None, action)?;
            match answer.retry_after().filter(|_| answer.status() == 409 && start.elapsed() < ASSEMBLY) {
                Some(delay) => sleep(delay),
                None => return answer.success(action).map(drop),
            }
        }
    }

    fn is_received(&self) -> Result<bool> {
        let state: State = serde_json::from_value(self.api.get(&self.upload.path(), "reading the upload")?)?;
        Ok(state.state == "received")
    }
}

/// A body that reports what is sent of it.
struct Counted<'a> {
    bytes: &'a [u8],
    sent: &'a (dyn Fn(i64) + Sync),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        (self.sent)(length as i64);
        Ok(length)
    }
}
