//! Multipart uploads in memory, for tests. They refuse calls that S3 refuses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore_domain::ports::{MultipartFiles, MultipartUpload, PortResult};
use sha2::{Digest, Sha256};

use super::memory::etag;
use super::{Completion, MemoryFiles, ReceivedPart, failed};
use crate::aws_limits::s3::{check_key, check_part_number, check_parts};

/// The bytes of parts by their numbers.
type Parts = BTreeMap<u32, Vec<u8>>;

/// Unfinished and completed uploads; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryParts {
    begun: Arc<Mutex<BTreeMap<String, Parts>>>,
    completed: Arc<Mutex<BTreeMap<String, CompletedParts>>>,
}

/// A completed upload.
#[derive(Debug)]
struct CompletedParts {
    etags: Vec<String>,
    /// True if a repeated call gets the same response as the first; false if it is answered as for a missing upload.
    answered_again: bool,
}

impl MemoryParts {
    fn begun(&self) -> MutexGuard<'_, BTreeMap<String, Parts>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn completed(&self) -> MutexGuard<'_, BTreeMap<String, CompletedParts>> {
        self.completed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a completed upload. S3's documentation names `NoSuchUpload` as the response to the same call again,
    /// but does not guarantee it: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>.
    /// S3 is also known to repeat its first response. Here every other upload does that.
    fn complete(&self, id: &str, etags: &[String]) {
        let mut completed = self.completed();
        let answered_again = completed.len().is_multiple_of(2);
        completed.insert(id.to_owned(), CompletedParts { etags: etags.to_vec(), answered_again });
    }

    /// Returns true if a repeated completion of a finished upload gets its first response again.
    fn is_completed_again(&self, id: &str, etags: &[String]) -> bool {
        self.completed().get(id).is_some_and(|parts| parts.answered_again && parts.etags == etags)
    }
}

impl MemoryFiles {
    /// Begins an upload for this key: there is one per key at a time, named after it.
    pub fn begin_parts(&self, key: &str) -> String {
        let id = format!("parts of {key}");
        self.parts.begun().insert(id.clone(), Parts::new());
        id
    }

    /// Puts a part, overwriting one of the same number; does nothing if there is no such upload, or the number is
    /// invalid.
    pub fn put_part(&self, id: &str, number: u32, bytes: impl Into<Vec<u8>>) {
        if check_part_number(number as usize).is_err() {
            return;
        }
        if let Some(parts) = self.parts.begun().get_mut(id) {
            parts.insert(number, bytes.into());
        }
    }

    /// Returns the uploaded parts; `None` if there is no such upload.
    pub fn received_parts(&self, id: &str) -> Option<Vec<ReceivedPart>> {
        Some(self.parts.begun().get(id)?.iter().map(received).collect())
    }

    /// Assembles a file from these parts, if there is none yet.
    ///
    /// # Errors
    /// If S3 would refuse them: too small, too many, or out of order.
    pub fn complete_parts(&self, key: &str, id: &str, parts: &[ReceivedPart]) -> PortResult<Completion> {
        let mut begun = self.parts.begun();
        let Some(put) = begun.get(id).filter(|_| self.get(key).is_none()) else {
            return Ok(Completion::Gone);
        };
        let same = parts.iter().all(|part| put.get_key_value(&part.number).map(received).as_ref() == Some(part));
        if !same {
            return Ok(Completion::Changed);
        }
        let sizes: Vec<_> = parts.iter().map(|part| (part.number as usize, part.size_bytes)).collect();
        check_parts(&sizes).map_err(failed("complete_parts"))?;
        self.put(key, parts.iter().filter_map(|part| put.get(&part.number)).flatten().copied().collect::<Vec<_>>());
        begun.remove(id);
        Ok(Completion::Done)
    }

    /// Removes an upload and its parts.
    pub fn abort_parts(&self, id: &str) {
        self.parts.begun().remove(id);
    }

    /// Returns the unfinished uploads.
    pub fn unfinished_parts(&self) -> Vec<String> {
        self.parts.begun().keys().cloned().collect()
    }
}

/// Names of uploads have a number, so that there may be several per key. Parts may be smaller than S3 allows, so that
/// a test has many; the conformance suite shows that S3 refuses those.
impl MultipartFiles for MemoryFiles {
    async fn create_multipart(&self, key: &str, _: &str) -> PortResult<MultipartUpload> {
        check_key(key).map_err(failed("create_multipart"))?;
        let mut begun = self.parts.begun();
        let numbered = (0_u32..).map(|n| format!("upload {n} of {key}"));
        let completed = self.parts.completed();
        let id = numbered.into_iter().find(|id| !begun.contains_key(id) && !completed.contains_key(id));
        let id = id.unwrap_or_default();
        begun.insert(id.clone(), Parts::new());
        Ok(MultipartUpload { key: key.to_owned(), id })
    }

    async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>> {
        check_part_number(number as usize).map_err(failed("upload_part"))?;
        let mut begun = self.parts.begun();
        let Some(parts) = begun.get_mut(&upload.id) else { return Ok(None) };
        let etag = etag(&bytes);
        parts.insert(number, bytes);
        Ok(Some(etag))
    }

    async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<bool> {
        let mut begun = self.parts.begun();
        let Some(parts) = begun.get(&upload.id) else { return Ok(self.parts.is_completed_again(&upload.id, etags)) };
        let mut bytes = Vec::new();
        for (number, expected) in (1..).zip(etags) {
            let Some(part) = parts.get(&number).filter(|part| etag(part) == *expected) else { return Ok(false) };
            bytes.extend_from_slice(part);
        }
        begun.remove(&upload.id);
        self.parts.complete(&upload.id, etags);
        self.put(&upload.key, bytes);
        Ok(true)
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        MemoryFiles::abort_parts(self, &upload.id);
    }
}

fn received((number, bytes): (&u32, &Vec<u8>)) -> ReceivedPart {
    ReceivedPart {
        number: *number,
        size_bytes: bytes.len() as u64,
        sha256: Some(STANDARD.encode(Sha256::digest(bytes))),
        etag: etag(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_same_completion_again_is_answered_in_both_ways_and_changes_nothing() {
        let files = MemoryFiles::default();
        let mut answers = Vec::new();
        for _ in 0..2 {
            let upload = files.create_multipart("k", "text/csv").await.unwrap();
            let etag = files.upload_part(&upload, 1, b"x".to_vec()).await.unwrap().unwrap();
            assert!(files.complete_multipart(&upload, std::slice::from_ref(&etag)).await.unwrap());
            files.remove("k");
            answers.push(files.complete_multipart(&upload, std::slice::from_ref(&etag)).await.unwrap());
            assert!(!files.complete_multipart(&upload, &["other".to_owned()]).await.unwrap());
            assert_eq!(files.get("k"), None, "no file is made again");
        }
        assert_eq!(answers, [true, false]);
    }
}
