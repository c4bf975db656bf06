//! Work files: the failed, skipped and transient items that a commit records in addition to its counts.
//!
//! A chunk's failed, skipped and transient items are written to a file before the commit that passes over them. Each
//! file names its predecessor, and the cursor names the last, so the valid files form a chain. A file that no cursor
//! names, because its worker died or lost the race, is never read. The format is JSON Lines: a header, then one entry
//! per line.
//!
//! If the items of the job have outputs, those of the items that succeeded are in an object beside the work file, of
//! the same token. The header describes this object, so it counts under the same condition: a commit with outputs
//! writes a work file even if it has no entry.
//!
//! A slow chunk has a file for each second of its work, in each of its rounds. A header also names the files before its
//! predecessor, so that a long chain need not be read one file after the other. These names are a hint: they only list
//! files that can be read concurrently.

use serde::{Deserialize, Serialize};

use crate::outcome::Rejection;
use crate::timestamp::Timestamp;

/// Number of files that a header names; they can be read concurrently.
pub const NAMED_FILES: usize = 32;

/// First line of a work file.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WorkFileHeader {
    /// The round that wrote it.
    pub round: u32,
    /// Token of the previous file in the chunk's chain.
    pub prev: Option<String>,
    /// Tokens of the files before that one, newest first. A hint: files written before the field existed have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The outputs of the items that succeeded; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<OutputSlice>,
    /// Earliest next try of the items that the round has deferred so far; `None` if there are none. A hint for the
    /// start of the next round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

/// The outputs of the items that one commit counts as succeeded: an object of JSON Lines, in the order of the items. It
/// is a slice of the results.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct OutputSlice {
    /// Number of lines.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// CRC-64/NVME, from which that of the whole results file is computed without reading the object.
    pub crc64: u64,
}

impl WorkFileHeader {
    /// Creates the header of the file that follows `prev`. `known` is the header of `prev`, if it could be read.
    pub fn following(round: u32, prev: Option<String>, known: Option<&Self>) -> Self {
        let before = known.into_iter().flat_map(Self::named).take(NAMED_FILES - 1).cloned().collect();
        Self { round, prev, before, outputs: None, due: None }
    }

    /// Returns the tokens of earlier files, newest first, as far as the header names them.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.prev.iter().chain(&self.before)
    }
}

/// One item that was not a plain success: failed, skipped or deferred.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Number of the item in the file, from 1.
    pub n: u64,
    /// Outcome of the item.
    #[serde(flatten)]
    pub end: End,
    /// The record as in the source; bytes that are not UTF-8 become U+FFFD. Empty for a record that is too long to
    /// repeat.
    pub raw: String,
    /// True if `raw` differs from the record (not UTF-8, its quote never closed, too long): no retry can process it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// The outcome of an item that failed, was skipped or was deferred.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// Permanent failure.
    Failed(Rejection),
    /// Deliberately skipped.
    Skipped {
        /// Reason.
        reason: String,
    },
    /// Deferred to the next round.
    Transient {
        /// Number of attempts so far.
        attempts: u32,
        /// Reason of the last attempt.
        reason: String,
        /// Earliest time of the next attempt: a round before it defers the item again. `None` for the next round.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<Timestamp>,
    },
}

/// A complete work file.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct WorkFile {
    /// The first line.
    pub header: WorkFileHeader,
    /// All other lines.
    pub entries: Vec<Entry>,
}

/// A work file that cannot be read: damaged, or written by a newer version.
#[derive(Debug, thiserror::Error)]
pub enum WorkFileError {
    /// The file has no first line.
    #[error("the work file is empty")]
    Empty,
    /// A line is not a valid entry.
    #[error("the work file has an unreadable line")]
    Line(#[from] serde_json::Error),
}

impl WorkFile {
    /// Serializes the file.
    ///
    /// # Errors
    /// None in practice: every part can be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WorkFileError> {
        let mut out = serde_json::to_vec(&self.header)?;
        out.push(b'\n');
        for entry in &self.entries {
            serde_json::to_writer(&mut out, entry)?;
            out.push(b'\n');
        }
        Ok(out)
    }

    /// Parses a stored file.
    ///
    /// # Errors
    /// If it is empty, or if a line is not an entry.
    pub fn parse(bytes: &[u8]) -> Result<Self, WorkFileError> {
        let mut lines = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        let header = serde_json::from_slice(lines.next().ok_or(WorkFileError::Empty)?)?;
        let entries = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        Ok(Self { header, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_file_survives_storage() {
        let entry = |n, end| Entry { n, end, raw: "a,\"b\nc\"".into(), damaged: n == 7 };
        let file = WorkFile {
            header: WorkFileHeader {
                round: 1,
                prev: Some("abc1".into()),
                before: vec!["abd7".into()],
                outputs: Some(OutputSlice { rows: 2, bytes: 9, sha256: "00".into(), crc64: u64::MAX }),
                due: Some(Timestamp(7_000)),
            },
            entries: vec![
                entry(7, End::Failed(Rejection::new("bad", Some("x"), "no"))),
                entry(8, End::Skipped { reason: "asked".into() }),
                entry(9, End::Transient { attempts: 2, reason: "busy".into(), due: Some(Timestamp(7_000)) }),
                entry(10, End::Transient { attempts: 2, reason: "busy".into(), due: None }),
            ],
        };
        assert_eq!(WorkFile::parse(&file.to_bytes().unwrap()).unwrap(), file);
    }

    #[test]
    fn a_header_names_the_newest_files_before_it() {
        let mut header = WorkFileHeader::following(0, None, None);
        for n in 1..100 {
            header = WorkFileHeader::following(0, Some(n.to_string()), Some(&header));
        }
        let named: Vec<_> = header.named().cloned().collect();
        assert_eq!(named, (68..100).rev().map(|n| n.to_string()).collect::<Vec<_>>());
        let alone = WorkFileHeader::following(1, Some("100".into()), None);
        assert_eq!(alone.named().collect::<Vec<_>>(), ["100"]);
    }

    #[test]
    fn a_file_of_an_earlier_version_can_be_read() {
        let entry = r#"{"n":1,"end":"transient","attempts":2,"reason":"busy","raw":""}"#;
        let file = WorkFile::parse(format!("{{\"round\":1,\"prev\":\"abc1\"}}\n{entry}\n").as_bytes()).unwrap();
        assert_eq!(file.header, WorkFileHeader { round: 1, prev: Some("abc1".into()), ..WorkFileHeader::default() });
        assert_eq!(file.entries[0].end, End::Transient { attempts: 2, reason: "busy".into(), due: None });
    }
}
