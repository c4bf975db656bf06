//! Work files: what a commit vouches for beside its counts.
//!
//! A chunk's failed, skipped and transient items are written to a file before the commit that passes over them.
//! Each file names its predecessor, and the cursor names the last, so the files that count form a chain; a file
//! that no commit vouches for (its worker died or lost) is never read. JSON Lines: a header, then an entry a line.
//!
//! A slow chunk has a file for each second of its work, in each of its rounds. A header also names the files before its
//! predecessor, so that a long chain need not be read one file after the other. These names are a hint: they say only
//! what can be read concurrently.

use serde::{Deserialize, Serialize};

use crate::outcome::Rejection;

/// Number of files that a header names; they can be read concurrently.
pub const NAMED_FILES: usize = 32;

/// First line of a work file.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Header {
    /// The round that wrote it.
    pub round: u32,
    /// Token of the file before it in the chunk's chain.
    pub prev: Option<String>,
    /// Tokens of the files before that one, newest first. A hint: files written before it existed have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
}

impl Header {
    /// The header of the file that follows `prev`. `known` is the header of `prev`, if it could be read.
    pub fn behind(round: u32, prev: Option<String>, known: Option<&Self>) -> Self {
        let before = known.into_iter().flat_map(Self::named).take(NAMED_FILES - 1).cloned().collect();
        Self { round, prev, before }
    }

    /// Tokens of the files before this one, newest first, as far as the header names them.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.prev.iter().chain(&self.before)
    }
}

/// One item that did not simply succeed.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Number of the item in the file, from 1.
    pub n: u64,
    /// What became of it.
    #[serde(flatten)]
    pub end: End,
    /// The record as it stood in the source; not UTF-8 shows as U+FFFD. Empty for one that is too long to repeat.
    pub raw: String,
    /// `raw` is not the record as it stood (not UTF-8, its quote never closed, too long): no retry can work it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// What became of an item that did not simply succeed.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// Failed for good.
    Failed(Rejection),
    /// Skipped.
    Skipped {
        /// Why.
        reason: String,
    },
    /// Filed for the next round.
    Transient {
        /// How often it has been tried.
        attempts: u32,
        /// Why it could not be done.
        reason: String,
    },
}

/// A work file as a whole.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct WorkFile {
    /// Its first line.
    pub header: Header,
    /// The rest.
    pub entries: Vec<Entry>,
}

/// A work file that cannot be read: damage, or a newer version's.
#[derive(Debug, thiserror::Error)]
pub enum WorkFileError {
    /// There is no first line.
    #[error("the work file is empty")]
    Empty,
    /// A line is not what it should be.
    #[error("the work file has an unreadable line")]
    Line(#[from] serde_json::Error),
}

impl WorkFile {
    /// The bytes to store.
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

    /// Reads a stored file.
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
            header: Header { round: 1, prev: Some("abc1".into()), before: vec!["abd7".into()] },
            entries: vec![
                entry(7, End::Failed(Rejection::new("bad", Some("x"), "no"))),
                entry(8, End::Skipped { reason: "asked".into() }),
                entry(9, End::Transient { attempts: 2, reason: "busy".into() }),
            ],
        };
        assert_eq!(WorkFile::parse(&file.to_bytes().unwrap()).unwrap(), file);
    }

    #[test]
    fn a_header_names_the_newest_files_before_it() {
        let mut header = Header::behind(0, None, None);
        for n in 1..100 {
            header = Header::behind(0, Some(n.to_string()), Some(&header));
        }
        let named: Vec<_> = header.named().cloned().collect();
        assert_eq!(named, (68..100).rev().map(|n| n.to_string()).collect::<Vec<_>>());
        let alone = Header::behind(1, Some("100".into()), None);
        assert_eq!(alone.named().collect::<Vec<_>>(), ["100"]);
    }

    #[test]
    fn a_header_from_before_it_named_more_than_one_file_is_understood() {
        let file = WorkFile::parse(b"{\"round\":1,\"prev\":\"abc1\"}\n").unwrap();
        assert_eq!(file.header, Header { round: 1, prev: Some("abc1".into()), before: vec![] });
    }
}
