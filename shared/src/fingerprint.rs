//! Size and SHA-256 of bytes that pass by.
//!
//! Whoever writes or reads a file as a stream gets its fingerprint on the way, and nobody reads a file twice for it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What tells a file from every other one.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Fingerprint {
    /// Bytes.
    pub size: u64,
    /// Its SHA-256 in 64 lower-case hexadecimal digits, as `sha256sum` prints it.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
}

/// Takes a file block by block, in constant memory.
#[derive(Clone, Debug, Default)]
pub struct Fingerprinter {
    size: u64,
    hash: Sha256,
}

impl Fingerprinter {
    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// Bytes taken so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The fingerprint of everything taken.
    pub fn finish(self) -> Fingerprint {
        Fingerprint { size: self.size, sha256: hex(&self.hash.finalize()) }
    }
}

/// Two lower-case digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_same_whatever_the_blocks() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for blocks in [&["abc"][..], &["a", "", "bc"]] {
            let mut taken = Fingerprinter::default();
            blocks.iter().for_each(|block| taken.take(block.as_bytes()));
            assert_eq!(taken.finish(), Fingerprint { size: 3, sha256: abc.into() });
        }
    }
}
