//! The checksums of a file and of its parts, and what follows from them: the request, and its idempotency key.

use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{LocalFile, PART_BYTES};

/// Maximum size of a file that is sent by one PUT.
const WHOLE_BYTES: u64 = 16 << 20;

/// Maximum number of parts of the API.
const PARTS: u64 = 200;

/// The checksums of a file.
pub(super) struct Checksums {
    whole: [u8; 32],
    pub(super) part_bytes: Option<u64>,
    parts: Vec<[u8; 32]>,
}

impl Checksums {
    /// Reads the file once.
    pub(super) fn read(file: &LocalFile<'_>, part_bytes: Option<u64>) -> Result<Self> {
        let read = || -> io::Result<Self> {
            let mut source = File::open(file.path)?;
            let (mut whole, mut parts, mut left) = (Sha256::new(), Vec::new(), file.size_bytes);
            let mut block = vec![0; 1 << 20];
            while left > 0 {
                let (mut part, mut in_part) = (Sha256::new(), part_bytes.unwrap_or(left).min(left));
                left -= in_part;
                while in_part > 0 {
                    let length = usize::try_from(in_part).map_or(block.len(), |left| left.min(block.len()));
                    source.read_exact(&mut block[..length])?;
                    whole.update(&block[..length]);
                    part.update(&block[..length]);
                    in_part -= length as u64;
                }
                parts.push(part.finalize().into());
            }
            Ok(Self { whole: whole.finalize().into(), part_bytes, parts })
        };
        read().with_context(|| format!("cannot read {}", file.path.display()))
    }

    pub(super) fn request(&self, file: &LocalFile<'_>) -> Value {
        let mut request = json!({ "fileName": file.name, "contentType": file.content_type, "size": file.size_bytes });
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

    pub(super) fn part(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.parts.get(index).map(<[u8; 32]>::as_slice)
    }

    /// Returns the idempotency key of an upload: the same for the same content, name and purpose.
    pub(super) fn key(&self, file: &LocalFile<'_>, purpose: &str, number: u32) -> String {
        let mut hash = Sha256::new();
        for part in [&self.whole[..], file.name.as_bytes(), purpose.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        format!("cli-{}-{number}", &HEXLOWER.encode(&hash.finalize())[..40])
    }
}

/// Returns the size of the parts of a file; `None` for one PUT.
pub(super) fn part_bytes(size: u64) -> Option<u64> {
    let mib = 1 << 20;
    (size > WHOLE_BYTES).then(|| size.div_ceil(PARTS).next_multiple_of(mib).max(PART_BYTES))
}

#[cfg(test)]
mod tests {
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
        let file = LocalFile { path: &path, name: "a.csv", content_type: "text/csv", size_bytes: 7 };
        let found = Checksums::read(&file, Some(3))?;
        let sha256 = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
        assert_eq!(found.whole, sha256("abcdefg"));
        assert_eq!(found.parts, ["abc", "def", "g"].map(sha256));
        assert_eq!(found.part(4), None);
        assert_eq!(found.request(&file)["parts"][2]["partNumber"], 3);
        assert_eq!(Checksums::read(&file, None)?.request(&file)["sha256"], HEXLOWER.encode(&sha256("abcdefg")));
        assert_eq!(found.key(&file, "p", 0), found.key(&file, "p", 0));
        assert_ne!(found.key(&file, "p", 0), found.key(&file, "q", 0));
        let longer = LocalFile { size_bytes: 8, ..file };
        assert!(Checksums::read(&longer, None).is_err(), "a file that became shorter");
        Ok(())
    }
}
