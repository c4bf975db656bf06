//! The decision of an undo for one key: by the record's writer, and by what the record knows of its history.

use crate::history::{RecordVersion, VersionMark, VersionPlace};
use crate::ids::JobId;

/// The next write of an undo for a key whose record it has read.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum UndoStep {
    /// Nothing is left to undo: the key has no record, or this undo has restored it.
    Done,
    /// Delete the record: the undone job created it.
    Delete(VersionMark),
    /// Restore the previous version from this location.
    Restore(VersionMark, VersionPlace),
    /// The record stays.
    Skip(SkipReason),
    /// The record stays, because its previous version is not stored.
    NoPreviousVersion,
}

/// The reason why an undo leaves a record as it is.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum SkipReason {
    /// The undone job did not write the record, or another undo has restored it.
    NotWritten,
    /// Another job or program has written the record since.
    ChangedSince,
}

impl SkipReason {
    /// Returns the reason as it is reported.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotWritten => "not_written",
            Self::ChangedSince => "changed_since",
        }
    }
}

/// Decides what the job `undo` does to a record in order to undo the job `undone`. Nothing is deleted or restored by
/// guess: a location counts only if it names the undone job.
pub fn undo_step(stored: Option<&RecordVersion>, undone: JobId, undo: JobId) -> UndoStep {
    let Some(version) = stored else { return UndoStep::Done };
    let by = version.writer.map(|writer| writer.job);
    if by == Some(undone) {
        // A later undo has restored this version: a late worker of an earlier one must not undo it.
        if version.restored_by.is_some_and(|restored| restored.job > undo) {
            return UndoStep::Skip(SkipReason::ChangedSince);
        }
        if version.created_by == Some(undone) {
            return UndoStep::Delete(version.mark());
        }
        let place = version.previous.clone().filter(|place| place.job == undone);
        return place.map_or(UndoStep::NoPreviousVersion, |place| UndoStep::Restore(version.mark(), place));
    }
    match by {
        _ if version.restored_by.is_some_and(|restored| restored.job == undo) => UndoStep::Done,
        Some(by) if by < undone => UndoStep::Skip(SkipReason::NotWritten),
        _ => UndoStep::Skip(SkipReason::ChangedSince),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::timestamp::Timestamp;
    use crate::writer::Writer;

    #[test]
    fn a_record_is_undone_by_its_writer_and_its_history() {
        let [early, undone, late, undo, later_undo] = [(); 5].map(|()| JobId::generate());
        let place = |job| VersionPlace { job, file: "f".into(), start: 0, end: 9 };
        let version = |writer: Option<JobId>, created_by, previous, restored_by: Option<JobId>| RecordVersion {
            key: "k".into(),
            data: Map::new(),
            writer: writer.map(|job| Writer { job, row: 3 }),
            updated_at: Some(Timestamp(7)),
            created_by,
            previous,
            restored_by: restored_by.map(|job| Writer { job, row: 1 }),
        };
        let mark = VersionMark { writer: Some(Writer { job: undone, row: 3 }), updated_at: Some(Timestamp(7)) };
        let (own, gone) = (Some(undone), UndoStep::NoPreviousVersion);
        for (stored, expected) in [
            (version(own, own, None, None), UndoStep::Delete(mark)),
            (version(own, own, Some(place(early)), None), UndoStep::Delete(mark)),
            (version(own, Some(early), Some(place(undone)), None), UndoStep::Restore(mark, place(undone))),
            (version(own, None, Some(place(undone)), Some(undo)), UndoStep::Restore(mark, place(undone))),
            (version(own, own, None, Some(later_undo)), UndoStep::Skip(SkipReason::ChangedSince)),
            (version(own, Some(early), Some(place(early)), None), gone.clone()),
            (version(own, None, None, None), gone),
            (version(Some(early), None, None, Some(undo)), UndoStep::Done),
            (version(Some(late), None, None, Some(undo)), UndoStep::Done),
            (version(None, None, None, Some(undo)), UndoStep::Done),
            (version(Some(early), None, None, Some(late)), UndoStep::Skip(SkipReason::NotWritten)),
            (version(Some(early), own, None, None), UndoStep::Skip(SkipReason::NotWritten)),
            (version(Some(late), own, Some(place(undone)), None), UndoStep::Skip(SkipReason::ChangedSince)),
            (version(None, own, Some(place(undone)), None), UndoStep::Skip(SkipReason::ChangedSince)),
        ] {
            assert_eq!(undo_step(Some(&stored), undone, undo), expected, "{stored:?}");
        }
        assert_eq!(undo_step(None, undone, undo), UndoStep::Done);
    }
}
