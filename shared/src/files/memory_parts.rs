//! Uploads in parts in memory, for tests. They refuse what S3 refuses.

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

/// Uploads that were begun and not ended; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryParts(Arc<Mutex<BTreeMap<String, Parts>>>);

impl MemoryParts {
    fn begun(&self) -> MutexGuard<'_, BTreeMap<String, Parts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryFiles {
    /// Begins an upload for this key: there is one of a key at a time, and its name is made of it.
    pub fn begin_parts(&self, key: &str) -> String {
        let id = format!("parts of {key}");
        self.parts.begun().insert(id.clone(), Parts::new());
        id
    }

    /// Puts a part, over one of the same number; nothing if there is no such upload, or can be no such part.
    pub fn put_part(&self, id: &str, number: u32, bytes: impl Into<Vec<u8>>) {
        if check_part_number(number as usize).is_err() {
            return;
        }
        if let Some(parts) = self.parts.begun().get_mut(id) {
            parts.insert(number, bytes.into());
        }
    }

    /// The parts that were put; none if there is no such upload.
    pub fn received_parts(&self, id: &str) -> Option<Vec<ReceivedPart>> {
        Some(self.parts.begun().get(id)?.iter().map(received).collect())
    }

    /// Makes a file of these parts, if none is there.
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

    /// Forgets an upload and its parts.
    pub fn abort_parts(&self, id: &str) {
        self.parts.begun().remove(id);
    }

    /// Uploads that were begun and not ended.
    pub fn unfinished_parts(&self) -> Vec<String> {
        self.parts.begun().keys().cloned().collect()
    }
}

/// Names of uploads have a number, so that there may be several of one key. Parts may be smaller than S3 takes them, so that a
/// test has many; the conformance suite shows that S3 refuses those.
impl MultipartFiles for MemoryFiles {
    async fn create_multipart(&self, key: &str, _: &str) -> PortResult<MultipartUpload> {
        check_key(key).map_err(failed("create_multipart"))?;
        let mut begun = self.parts.begun();
        let numbered = (0_u32..).map(|n| format!("upload {n} of {key}"));
        let id = numbered.into_iter().find(|id| !begun.contains_key(id)).unwrap_or_default();
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
        let Some(parts) = begun.get(&upload.id) else { return Ok(false) };
        let mut bytes = Vec::new();
        for (number, expected) in (1..).zip(etags) {
            let Some(part) = parts.get(&number).filter(|part| etag(part) == *expected) else { return Ok(false) };
            bytes.extend_from_slice(part);
        }
        begun.remove(&upload.id);
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
