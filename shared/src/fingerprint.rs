//! Size and SHA-256 of a stream of bytes.
//!
//! Code that writes or reads a file as a stream computes its fingerprint at the same time, so that no file is read
//! twice.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::digest::common::hazmat::{SerializableState, SerializedState};
use sha2::{Digest, Sha256};

/// The size and checksum that identify a file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Fingerprint {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in 64 lower-case hexadecimal digits, as `sha256sum` prints it.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
}

/// An unfinished fingerprint, to be continued elsewhere.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedFingerprint {
    size: u64,
    /// The state of SHA-256, in hexadecimal. Any release 0.11 of the crate reads the state that another 0.11 has
    /// written.
    sha256: String,
}

/// Computes the fingerprint of a file block by block, in constant memory.
#[derive(Clone, Debug, Default)]
pub struct Fingerprinter {
    size: u64,
    hash: Sha256,
}

impl Fingerprinter {
    /// Adds the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// Returns the number of bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Saves the state, so that another fingerprinter can continue from here.
    pub fn save(&self) -> SavedFingerprint {
        SavedFingerprint { size: self.size, sha256: HEXLOWER.encode(&self.hash.serialize()) }
    }

    /// Continues from a saved state; `None` if it is invalid.
    pub fn restore(saved: &SavedFingerprint) -> Option<Self> {
        let bytes = HEXLOWER.decode(saved.sha256.as_bytes()).ok()?;
        let state = SerializedState::<Sha256>::try_from(bytes.as_slice()).ok()?;
        Some(Self { size: saved.size, hash: Sha256::deserialize(&state).ok()? })
    }

    /// Returns the fingerprint of all bytes.
    pub fn finish(self) -> Fingerprint {
        Fingerprint { size: self.size, sha256: HEXLOWER.encode(&self.hash.finalize()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_same_for_any_block_size() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for blocks in [&["abc"][..], &["a", "", "bc"]] {
            let mut taken = Fingerprinter::default();
            for block in blocks {
                taken.take(block.as_bytes());
                taken = Fingerprinter::restore(&taken.save()).unwrap();
            }
            assert_eq!(taken.finish(), Fingerprint { size: 3, sha256: abc.into() });
        }
    }
}
