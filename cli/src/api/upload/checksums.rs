//! The checksums of a file and of its parts, and what follows from them: the request, and its idempotency key.

use anyhow::Result;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::file::LocalFile;

/// Maximum size of a file that is sent by one PUT.
const WHOLE_BYTES: u64 = 16 << 20;

/// Smallest part of a larger file. Fewer parts need fewer calls.
const PART_BYTES: u64 = 8 << 20;

/// Maximum number of parts of the API.
const PARTS: u64 = 200;

/// The checksums of a file.
pub(super) struct Checksums {
    whole: [u8; 32],
    /// Size of the parts; `None` for one PUT.
    pub(super) part_bytes: Option<u64>,
    parts: Vec<[u8; 32]>,
}

impl Checksums {
    /// Reads the file once.
    ///
    /// # Errors
    /// If it changes meanwhile.
    pub(super) fn read(file: &LocalFile, part_bytes: Option<u64>) -> Result<Self> {
        let (mut whole, mut parts, mut offset) = (Sha256::new(), Vec::new(), 0);
        let mut block = vec![0; 1 << 20];
        while offset < file.size_bytes() {
            let mut part = Sha256::new();
            let end = part_bytes.map_or(file.size_bytes(), |bytes| file.size_bytes().min(offset + bytes));
            while offset < end {
                let length = usize::try_from(end - offset).map_or(block.len(), |left| left.min(block.len()));
                file.read_at(offset, &mut block[..length])?;
                whole.update(&block[..length]);
                part.update(&block[..length]);
                offset += length as u64;
            }
            parts.push(part.finalize().into());
        }
        file.check_unchanged()?;
        Ok(Self { whole: whole.finalize().into(), part_bytes, parts })
    }

    /// Returns the request that creates the upload.
    pub(super) fn request(&self, file: &LocalFile) -> Value {
        let mut request =
            json!({ "fileName": file.name(), "contentType": file.content_type(), "size": file.size_bytes() });
        match self.part_bytes {
            None => request["sha256"] = HEXLOWER.encode(&self.whole).into(),
            Some(bytes) => {
                let part = |(number, sha256): (u64, &[u8; 32])| json!({ "partNumber": number, "sha256": HEXLOWER.encode(sha256) });
                request["partSize"] = bytes.into();
                request["parts"] = (1..).zip(&self.parts).map(part).collect();
            }
        }
        request
    }

    /// Returns the checksum of the whole file.
    pub(super) fn whole(&self) -> &[u8] {
        &self.whole
    }

    /// Returns the checksum of a part; the first has the number 1.
    pub(super) fn part(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.parts.get(index).map(<[u8; 32]>::as_slice)
    }

    /// Returns the idempotency key of the upload with this number of those with the same content, name and parts.
    pub(super) fn key(&self, file: &LocalFile, number: u32) -> String {
        let mut hash = Sha256::new();
        hash.update(self.whole);
        hash.update(self.part_bytes.unwrap_or_default().to_be_bytes());
        hash.update(file.name());
        format!("longshore-cli-{}-{number}", &HEXLOWER.encode(&hash.finalize())[..40])
    }
}

/// Returns the size of the parts of a file; `None` for one PUT.
pub(super) fn part_bytes(size: u64) -> Option<u64> {
    let mib = 1 << 20;
    (size > WHOLE_BYTES).then(|| size.div_ceil(PARTS).next_multiple_of(mib).max(PART_BYTES))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_file_has_at_most_200_parts() {
        let mib = 1 << 20;
        assert_eq!([1, WHOLE_BYTES].map(part_bytes), [None, None]);
        assert_eq!(part_bytes(WHOLE_BYTES + 1), Some(8 * mib));
        for size in [1_600 * mib, 1_600 * mib + 1, 5 << 30] {
            let bytes = part_bytes(size).unwrap();
            assert!(size.div_ceil(bytes) <= PARTS && bytes.is_multiple_of(mib), "{size}: {bytes}");
        }
    }

    #[test]
    fn the_checksums_are_those_of_the_parts_and_of_the_whole() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "abcdefg")?;
        let file = LocalFile::open(&path)?;
        let (parts, whole) = (Checksums::read(&file, Some(3))?, Checksums::read(&file, None)?);
        let sha256 = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
        assert_eq!((parts.whole, whole.whole), (sha256("abcdefg"), sha256("abcdefg")));
        assert_eq!(parts.parts, ["abc", "def", "g"].map(sha256));
        assert_eq!(parts.part(4), None);
        assert_eq!(parts.request(&file)["parts"][2]["partNumber"], 3);
        assert_eq!(whole.request(&file)["sha256"], HEXLOWER.encode(&sha256("abcdefg")));
        let again = Checksums::read(&LocalFile::open(&path)?, None)?;
        assert_eq!(whole.key(&file, 0), again.key(&file, 0));
        let other = LocalFile::open(&path)?.named("b.csv");
        let keys = [whole.key(&file, 0), whole.key(&file, 1), parts.key(&file, 0), whole.key(&other, 0)];
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 4, "{keys:?}");
        Ok(())
    }
}
