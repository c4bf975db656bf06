//! Uploads in parts in memory, for tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::memory::etag;
use super::{Completion, MemoryFiles, ReceivedPart};

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

    /// Puts a part, over one of the same number; nothing if there is no such upload.
    pub fn put_part(&self, id: &str, number: u32, bytes: impl Into<Vec<u8>>) {
        if let Some(parts) = self.parts.begun().get_mut(id) {
            parts.insert(number, bytes.into());
        }
    }

    /// The parts that were put; none if there is no such upload.
    pub fn received_parts(&self, id: &str) -> Option<Vec<ReceivedPart>> {
        Some(self.parts.begun().get(id)?.iter().map(received).collect())
    }

    /// Makes a file of these parts, if none is there.
    pub fn complete_parts(&self, key: &str, id: &str, parts: &[ReceivedPart]) -> Completion {
        let mut begun = self.parts.begun();
        let Some(put) = begun.get(id).filter(|_| self.get(key).is_none()) else { return Completion::Gone };
        let same = parts.iter().all(|part| put.get_key_value(&part.number).map(received).as_ref() == Some(part));
        if !same {
            return Completion::Changed;
        }
        self.put(key, parts.iter().filter_map(|part| put.get(&part.number)).flatten().copied().collect::<Vec<_>>());
        begun.remove(id);
        Completion::Done
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

fn received((number, bytes): (&u32, &Vec<u8>)) -> ReceivedPart {
    ReceivedPart {
        number: *number,
        size_bytes: bytes.len() as u64,
        sha256: Some(STANDARD.encode(Sha256::digest(bytes))),
        etag: etag(bytes),
    }
}
