//! Previous versions of records. Before an import changes a record, it stores the version that the record has.
//!
//! A record names the job that created it, and the location of the version before its last import; that version names
//! the location of the one before it. A location counts only for the job that it names.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::JobId;
use crate::timestamp::Timestamp;
use crate::writer::{Rule, Writer, Written};

/// A version of a record, as a writer has read it.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordVersion {
    /// Key of the record.
    pub key: String,
    /// Properties of the record.
    pub data: Map<String, Value>,
    /// Writer of the version; `None` if it was not an import.
    pub writer: Option<Writer>,
    /// Time of the write; `None` if another program left it out.
    pub updated_at: Option<Timestamp>,
    /// The job that created the record; `None` before jobs were recorded, or if it was not an import.
    pub created_by: Option<JobId>,
    /// Location of the version that the writer's job has replaced.
    pub previous: Option<VersionPlace>,
    /// The row of the undo that has restored the record last.
    pub restored_by: Option<Writer>,
}

impl RecordVersion {
    /// Returns what identifies the version among all versions of its key.
    pub fn mark(&self) -> VersionMark {
        VersionMark { writer: self.writer, updated_at: self.updated_at }
    }
}

/// The identity of a version among all versions of its key.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct VersionMark {
    /// Writer of the version.
    pub writer: Option<Writer>,
    /// Time of the write.
    pub updated_at: Option<Timestamp>,
}

/// Location of a previous version: a line of a file in the folder of the job that has replaced it.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct VersionPlace {
    /// The job whose folder has the file.
    pub job: JobId,
    /// Unique name of the file within the job's folder.
    pub file: String,
    /// First byte of the line.
    pub start: u64,
    /// Byte after the line.
    pub end: u64,
}

impl VersionPlace {
    /// Parses the output of [`VersionPlace`]'s `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        let (job, rest) = text.split_once('/')?;
        let (file, range) = rest.split_once(':')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        let is_name = !file.is_empty() && file.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (is_name && start < end).then_some(Self { job: JobId::parse(job)?, file: file.to_owned(), start, end })
    }
}

impl std::fmt::Display for VersionPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}:{}-{}", self.job, self.file, self.start, self.end)
    }
}

/// A previous version as a line of its file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviousVersion {
    /// Key of the record.
    pub key: String,
    /// Properties of the record.
    pub data: Map<String, Value>,
    /// Writer of the version.
    pub writer: String,
    /// The job that created the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<JobId>,
    /// Location of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

impl PreviousVersion {
    /// Returns the line of a version; `None` for one that no import wrote, which no import replaces.
    pub fn from_version(version: &RecordVersion) -> Option<Self> {
        Some(Self {
            key: version.key.clone(),
            data: version.data.clone(),
            writer: version.writer?.to_string(),
            created_by: version.created_by,
            previous: version.previous.as_ref().map(VersionPlace::to_string),
        })
    }
}

/// The next write of an import for a key whose stored version it has read.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ImportStep {
    /// The key has no record: insert it.
    Insert,
    /// Overwrite the version of this mark. Its data is stored before, unless a row of the same job wrote it: redelivery
    /// and double keys never make a previous version out of the job's own write.
    Overwrite {
        /// The version that was read.
        mark: VersionMark,
        /// True if a file with the version must exist before.
        keeps_version: bool,
    },
    /// The result is known without a write.
    Done(Written),
}

/// Decides the next write of an import under [`Rule::Upsert`] or [`Rule::Update`].
pub fn import_step(rule: Rule, stored: Option<&RecordVersion>, new: Writer) -> ImportStep {
    let Some(version) = stored else {
        return if rule.creates() { ImportStep::Insert } else { ImportStep::Done(Written::Missing) };
    };
    let Some(holder) = version.writer else { return ImportStep::Done(Written::not_imported()) };
    match rule.refusal(holder, new) {
        Some(refusal) => ImportStep::Done(refusal),
        None => ImportStep::Overwrite { mark: version.mark(), keeps_version: holder.job != new.job },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(writer: Option<Writer>) -> RecordVersion {
        RecordVersion {
            key: "k".into(),
            data: Map::new(),
            writer,
            updated_at: Some(Timestamp(7)),
            created_by: None,
            previous: None,
            restored_by: None,
        }
    }

    #[test]
    fn a_place_reads_back() {
        let place = |file: &str| VersionPlace { job: JobId::generate(), file: file.into(), start: 0, end: 17 };
        for place in [place("abcdefgh-18"), place("abcdefgh")] {
            assert_eq!(VersionPlace::parse(&place.to_string()), Some(place));
        }
        let place = place("a");
        let id = place.job;
        for bad in [
            "",
            "x/a:0-1",
            &format!("{id}/:0-1"),
            &format!("{id}/../a:0-1"),
            &format!("{id}/a:1-1"),
            &format!("{id}/a:0"),
        ] {
            assert_eq!(VersionPlace::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_a_version_of_an_earlier_job_is_kept_and_a_later_writer_stays() {
        let (early, own, late) = (JobId::generate(), JobId::generate(), JobId::generate());
        let writer = |job, row| Writer { job, row };
        let new = writer(own, 5);
        let overwrite = |holder, keeps_version| ImportStep::Overwrite {
            mark: VersionMark { writer: Some(holder), updated_at: Some(Timestamp(7)) },
            keeps_version,
        };
        for rule in [Rule::Upsert, Rule::Update] {
            for (holder, expected) in [
                (writer(early, 9), overwrite(writer(early, 9), true)),
                (writer(own, 4), overwrite(writer(own, 4), false)),
                (writer(own, 5), overwrite(writer(own, 5), false)),
                (writer(own, 6), ImportStep::Done(Written::Superseded(writer(own, 6)))),
                (writer(late, 1), ImportStep::Done(Written::Superseded(writer(late, 1)))),
            ] {
                assert_eq!(import_step(rule, Some(&version(Some(holder))), new), expected, "{rule:?}");
            }
            let other = import_step(rule, Some(&version(None)), new);
            assert_eq!(other, ImportStep::Done(Written::not_imported()), "{rule:?}");
        }
        assert_eq!(import_step(Rule::Upsert, None, new), ImportStep::Insert);
        assert_eq!(import_step(Rule::Update, None, new), ImportStep::Done(Written::Missing));
    }
}
