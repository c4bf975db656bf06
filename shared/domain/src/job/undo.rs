//! The link between an import and its undo.

use serde::{Deserialize, Serialize};

use super::{Job, Transition};
use crate::ids::JobId;
use crate::timestamp::Timestamp;

/// The link between an import and its undo, on both jobs.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoState {
    /// True if the job is an import that stores what its undo needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undoable: bool,
    /// The last undo of this import. From its creation on, the import cannot be retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<JobId>,
    /// The import that this job undoes, or whose undo it only previews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<UndoneImport>,
}

/// The import that a job undoes, as it was when the job was created. It had ended. During an undo, nothing of it changes;
/// during a preview, it can be retried or deleted.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoneImport {
    /// The import.
    pub job_id: JobId,
    /// Number of its groups.
    pub groups: u32,
    /// True if the job only previews the undo, and writes nothing.
    pub preview: bool,
}

/// The mark that the creation of an undo leaves on its import.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct MarkUndone {
    /// The import.
    pub import: JobId,
    /// Its generation, as it was read.
    pub generation: u32,
    /// Its last undo, as it was read; it is no longer active.
    pub before: Option<JobId>,
    /// The new undo.
    pub by: JobId,
    /// Time of the creation.
    pub at: Timestamp,
}

impl Job {
    /// Returns true if the job undoes an import, or previews an undo. It is not retried: another undo covers the same
    /// items.
    pub const fn is_undo(&self) -> bool {
        self.undo.undoes.is_some()
    }

    /// Returns true if the job is an import that can be undone: it has ended, and rows of it were processed.
    pub fn is_undoable(&self) -> bool {
        self.undo.undoable && self.status.is_final() && self.split.groups > 0 && !self.is_deleted()
    }

    /// Marks the import as undone, and changes nothing else. Refused unless it has ended in the generation that was
    /// read, is not deleted, and has no other undo than the one that was read.
    pub fn mark_undone(&mut self, mark: &MarkUndone) -> Transition {
        let is_as_read = self.generation == mark.generation && self.undo.undone_by == mark.before;
        if !self.status.is_final() || self.is_deleted() || !is_as_read {
            return Transition::Refused;
        }
        self.undo.undone_by = Some(mark.by);
        self.touch(mark.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Reopen, Selection, Status};
    use crate::outcome::Counts;
    use crate::tenant::TenantId;

    fn ended() -> Job {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        let mut job = Job { status: Status::Canceled, ..job };
        job.split.item_count = 9;
        job.completion.totals = Some(Counts { succeeded: 4, failed: 0, skipped: 0 });
        job
    }

    #[test]
    fn an_import_is_marked_only_as_it_was_read() {
        let (first, second) = (JobId::generate(), JobId::generate());
        let mut job = ended();
        let mark = |before, by| MarkUndone { import: job.job_id, generation: 0, before, by, at: Timestamp(7) };
        let marks = [mark(None, first), mark(None, second), mark(Some(first), second)];
        for (mark, is_made) in marks.into_iter().zip([true, false, true]) {
            assert_eq!(matches!(job.mark_undone(&mark), Transition::Made(_)), is_made, "{mark:?}");
        }
        assert_eq!((job.undo.undone_by, job.times.updated_at), (Some(second), Timestamp(7)));
        let next = MarkUndone { before: Some(second), by: first, ..marks[0] };
        for refusing in [
            Job { status: Status::Running, ..job.clone() },
            Job { generation: 1, ..job.clone() },
            Job { times: crate::job::JobTimes { deleted_at: Some(Timestamp(1)), ..job.times.clone() }, ..job.clone() },
        ] {
            assert_eq!(refusing.clone().mark_undone(&next), Transition::Refused, "{refusing:?}");
        }
    }

    #[test]
    fn neither_a_marked_import_nor_an_undo_is_reopened() {
        let reopen = Reopen {
            generation: 0,
            at: Timestamp(5),
            deadline_at: Timestamp(9),
            selection: Selection::All,
            registration: None,
        };
        let job = ended();
        assert!(matches!(job.clone().reopen(&reopen), Transition::Made(_)));
        let id = JobId::generate();
        let marked = UndoState { undone_by: Some(id), ..UndoState::default() };
        let undo =
            UndoState { undoes: Some(UndoneImport { job_id: id, groups: 1, preview: false }), ..UndoState::default() };
        for undo in [marked, undo] {
            assert_eq!(Job { undo, ..job.clone() }.reopen(&reopen), Transition::Refused);
        }
    }
}
