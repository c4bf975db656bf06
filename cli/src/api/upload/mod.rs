//! The upload of a local file, directly to the bucket: by one PUT, or in parts, several at once. A part that fails is
//! sent again. An upload that was interrupted is resumed by the next one of the same content and purpose.

mod checksums;
mod put;

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, sleep};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use self::checksums::{Checksums, part_bytes};
use self::put::{BACK_OFF, TRIES, Target};
use super::answer::Answer;
use super::client::Api;

/// Minimum size of a part. S3 has 5 MiB; larger ones need fewer calls.
const PART_BYTES: u64 = 8 << 20;

/// Parts that are sent at once. A browser sends as many.
const AT_ONCE: usize = 4;

/// Number of earlier uploads of the same content and purpose that are looked at. Another one cannot be resumed.
const EARLIER_UPLOADS: u32 = 3;

/// A local file to upload.
pub struct LocalFile<'a> {
    /// Path.
    pub path: &'a Path,
    /// File name.
    pub name: &'a str,
    /// Media type.
    pub content_type: &'a str,
    /// Size.
    pub size_bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upload {
    file_guid: String,
    #[serde(flatten)]
    target: Option<Target>,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    part_number: u64,
    size: u64,
    #[serde(flatten)]
    target: Option<Target>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    state: String,
    #[serde(default)]
    received_parts: Vec<ReceivedPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedPart {
    part_number: u64,
    size: u64,
    sha256: Option<String>,
}

impl Api {
    /// Uploads a file. Returns the upload's id.
    ///
    /// # Errors
    /// If the file changes, or a call fails for good.
    pub fn upload(&self, file: &LocalFile<'_>) -> Result<String> {
        self.upload_resumable(file, None, &|_| {})
    }

    /// Uploads a file, or what an interrupted upload of the same content and purpose has not sent. Calls `sent` with the
    /// bytes that were sent since the last call; negative if they have to be sent again.
    ///
    /// # Errors
    /// If the file changes, or a call fails for good.
    pub fn upload_resumable(
        &self,
        file: &LocalFile<'_>,
        purpose: Option<&str>,
        sent: &(dyn Fn(i64) + Sync),
    ) -> Result<String> {
        let mut checksums = Checksums::read(file, part_bytes(file.size_bytes))?;
        let mut created = self.create_upload(file, &checksums, purpose)?;
        if created.is_none() {
            // The deployment wants parts from a smaller size on.
            checksums = Checksums::read(file, Some(PART_BYTES))?;
            created = self.create_upload(file, &checksums, purpose)?;
        }
        let (upload, received) =
            created.context("creating the upload: the API refuses parts of the file, and the whole")?;
        let sending = Sending { api: self, file, checksums: &checksums, upload: &upload, sent };
        match &upload.target {
            Some(target) => sending.whole(target.clone())?,
            None => sending.parts(&received)?,
        }
        Ok(upload.file_guid)
    }

    /// Creates the upload. Returns it with the parts that an earlier run has sent; `None` if the file has to be sent in
    /// parts.
    fn create_upload(
        &self,
        file: &LocalFile<'_>,
        checksums: &Checksums,
        purpose: Option<&str>,
    ) -> Result<Option<(Upload, Vec<ReceivedPart>)>> {
        let action = "creating the upload";
        let request = checksums.request(file);
        let Some(purpose) = purpose else {
            let answer = self.send("POST", "/api/uploads", &[], Some(&request))?;
            return Ok(created(answer, action)?.map(|upload| (upload, Vec::new())));
        };
        for number in 0..EARLIER_UPLOADS {
            let key = checksums.key(file, purpose, number);
            let answer = self.send("POST", "/api/uploads", &[("idempotency-key", &key)], Some(&request))?;
            // It was removed with its job.
            if answer.status() == 404 {
                continue;
            }
            let Some(upload) = created(answer, action)? else { return Ok(None) };
            let state: State = serde_json::from_value(self.get(&upload.path(), "reading the upload")?)?;
            // A job may have taken a file that was received, and the job's deletion removes the file.
            if state.state == "waiting" {
                return Ok(Some((upload, state.received_parts)));
            }
        }
        self.create_upload(file, checksums, None)
    }
}

/// An upload that is sent.
struct Sending<'a> {
    api: &'a Api,
    file: &'a LocalFile<'a>,
    checksums: &'a Checksums,
    upload: &'a Upload,
    sent: &'a (dyn Fn(i64) + Sync),
}

impl Sending<'_> {
    /// Sends the file by one PUT.
    fn whole(&self, target: Target) -> Result<()> {
        let action = "requesting another URL";
        let renew = || {
            let renewed = self.api.post_json(&format!("{}/url", self.upload.path()), None, action)?;
            let renewed: Upload = serde_json::from_value(renewed)?;
            renewed.target.with_context(|| format!("{action}: the answer has none"))
        };
        let mut source = File::open(self.file.path)?;
        self.api.put(target, &mut source, self.file.size_bytes, &renew, self.sent)
    }

    /// Sends the parts that S3 has not received, several at once, and assembles them.
    fn parts(&self, received: &[ReceivedPart]) -> Result<()> {
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
            for _ in 0..AT_ONCE {
                scope.spawn(work);
            }
        });
        failed.into_inner().map_or_else(|| self.complete(), Err)
    }

    fn is_same(&self, part: &Part, received: &ReceivedPart) -> bool {
        let checksum = self.checksums.part(part.part_number).map(|checksum| STANDARD.encode(checksum));
        (received.part_number, received.size) == (part.part_number, part.size) && received.sha256 == checksum
    }

    fn part(&self, part: &Part) -> Result<()> {
        let path = self.file.path;
        let checksum = self.checksums.part(part.part_number).context("the API has planned other parts")?;
        let mut source = File::open(path)?;
        source.seek(SeekFrom::Start((part.part_number - 1) * self.checksums.part_bytes.unwrap_or_default()))?;
        let mut bytes = vec![0; usize::try_from(part.size)?];
        source.read_exact(&mut bytes).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(Sha256::digest(&bytes).as_slice() == checksum, "{} changes while it is sent", path.display());
        let action = "requesting the URL of a part";
        let renew = || {
            let request = json!({ "parts": [{ "partNumber": part.part_number, "sha256": HEXLOWER.encode(checksum) }] });
            let urls = self.api.post_json(&format!("{}/url", self.upload.path()), Some(&request), action)?;
            let urls: Upload = serde_json::from_value(urls)?;
            let target = urls.parts.into_iter().next().and_then(|part| part.target);
            target.with_context(|| format!("{action}: the answer has none"))
        };
        let target = part.target.clone().map_or_else(renew, Ok)?;
        self.api.put(target, &mut Cursor::new(bytes), part.size, &renew, self.sent)
    }

    /// Assembles the parts. Another call can be doing so.
    fn complete(&self) -> Result<()> {
        let action = "completing the upload";
        for retry in 0.. {
            let answer = self.api.send("POST", &format!("{}/complete", self.upload.path()), &[], None)?;
            let waits = answer.is_transient() || answer.retry_after().is_some();
            if !waits || retry + 1 >= TRIES {
                answer.success(action)?;
                break;
            }
            sleep(answer.retry_after().unwrap_or(BACK_OFF * 2_u32.pow(retry)));
        }
        Ok(())
    }
}

impl Upload {
    fn path(&self) -> String {
        format!("/api/uploads/{}", self.file_guid)
    }
}

/// Returns the upload; `None` if it has to be sent in parts.
fn created(answer: Answer, action: &str) -> Result<Option<Upload>> {
    if answer.status() < 400 {
        return answer.json(action).map(Some);
    }
    let refusal = answer.refusal();
    if refusal.has_code("sha256_not_allowed") { Ok(None) } else { Err(refusal.error(action)) }
}
