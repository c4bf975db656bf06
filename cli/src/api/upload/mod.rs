//! The upload of a local file, directly to the bucket: by one PUT, or in parts, several at once.
//!
//! An upload is named by its content: the same file is the same upload for a day, so an interrupted one is resumed by the
//! next command, and one that was received is not sent again. Several jobs can use one upload; the server removes it with
//! the last of them.
//!
//! | file | contains |
//! | --- | --- |
//! | `checksums` | the checksums of the file, the request, and the idempotency key |
//! | `sender` | what is sent, and tried again |

mod checksums;
mod sender;

use anyhow::{Context, Result};
use serde::Deserialize;

use self::checksums::{Checksums, part_bytes};
use self::sender::{Sender, Target};
use super::answer::Answer;
use super::client::Api;
use super::file::LocalFile;

/// Size of the parts if the deployment refuses the file as a whole: the smallest of S3.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>
const MIN_PART_BYTES: u64 = 5 << 20;

/// Number of uploads with the same content that are looked at. A later one cannot be resumed.
const SAME_UPLOADS: u32 = 3;

const ACTION: &str = "creating the upload";

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
    /// Uploads a file as a new upload. Returns its id.
    ///
    /// # Errors
    /// If the file changes, or a call fails for good.
    pub fn upload(&self, file: &LocalFile) -> Result<String> {
        self.upload_file(file, false, &|_| {})
    }

    /// Uploads what the deployment does not have of a file. Calls `sent` with the bytes since the last call; negative if
    /// they have to be sent again.
    ///
    /// # Errors
    /// If the file changes, or a call fails for good.
    pub fn upload_missing(&self, file: &LocalFile, sent: &(dyn Fn(i64) + Sync)) -> Result<String> {
        self.upload_file(file, true, sent)
    }

    fn upload_file(&self, file: &LocalFile, resumes: bool, sent: &(dyn Fn(i64) + Sync)) -> Result<String> {
        let mut checksums = Checksums::read(file, part_bytes(file.size_bytes()))?;
        let mut created = self.create_upload(file, &checksums, resumes)?;
        if created.is_none() {
            // The deployment wants parts from a smaller size on.
            checksums = Checksums::read(file, Some(MIN_PART_BYTES))?;
            created = self.create_upload(file, &checksums, resumes)?;
        }
        let (upload, state) =
            created.context("the deployment accepts neither this file nor its parts: update longshore")?;
        if state.state == "received" {
            sent(i64::try_from(file.size_bytes())?);
            return Ok(upload.file_guid);
        }
        let sender = Sender { api: self, file, checksums: &checksums, upload: &upload, sent };
        match &upload.target {
            Some(target) => sender.whole(target.clone())?,
            None => sender.parts(&state.received_parts)?,
        }
        Ok(upload.file_guid)
    }

    /// Creates the upload, or finds the one with the same content. Returns it with its state; `None` if the file has to
    /// be sent in parts.
    fn create_upload(&self, file: &LocalFile, checksums: &Checksums, resumes: bool) -> Result<Option<(Upload, State)>> {
        let request = checksums.request(file);
        for number in (0..SAME_UPLOADS).filter(|_| resumes) {
            let key = checksums.key(file, number);
            let key = [("idempotency-key", key.as_str())];
            let answer = self.repeat("POST", "/api/uploads", &key, Some(&request), ACTION)?;
            // It was removed with its last job.
            if answer.status() == 404 {
                continue;
            }
            let Some(upload) = created(answer)? else { return Ok(None) };
            let state: State = serde_json::from_value(self.get(&upload.path(), "reading the upload")?)?;
            if state.state != "abandoned" {
                return Ok(Some((upload, state)));
            }
        }
        let answer = self.send("POST", "/api/uploads", &[], Some(&request))?;
        let state = State { state: "waiting".to_owned(), received_parts: Vec::new() };
        Ok(created(answer)?.map(|upload| (upload, state)))
    }
}

impl Upload {
    fn path(&self) -> String {
        format!("/api/uploads/{}", self.file_guid)
    }
}

/// Returns the upload; `None` if it has to be sent in parts.
fn created(answer: Answer) -> Result<Option<Upload>> {
    if answer.status() < 400 {
        return answer.json(ACTION).map(Some);
    }
    let refusal = answer.refusal();
    if refusal.has_code("sha256_not_allowed") { Ok(None) } else { Err(refusal.error(ACTION)) }
}
