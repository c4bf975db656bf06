//! Generations: a retry reopens the job, and only failed or unprocessed items run.
//!
//! The groups of the previous generation are never written again. Their succeeded and skipped items are carried over
//! into the new generation's counts; the remaining items are replanned, chunk by chunk, into new groups.

use super::{
    CarriedOver, CompletionState, Job, JobError, JobTimes, RetryState, Selection, SourceFile, SplitState, Stage,
    Status, Transition,
};
use crate::outcome::Counts;
use crate::registration::VersionedRegistration;
use crate::timestamp::Timestamp;

/// A request to reopen a job that has ended, to run its remaining items.
#[derive(Clone, PartialEq, Debug)]
pub struct Reopen {
    /// The generation that has ended.
    pub generation: u32,
    /// Time of the request.
    pub at: Timestamp,
    /// Deadline of the new generation.
    pub deadline_at: Timestamp,
    /// The failed items that run again.
    pub selection: Selection,
    /// The registration that the new generation uses, for a registered job type; `None` keeps the stored one.
    pub registration: Option<Box<VersionedRegistration>>,
}

/// Prefix of the codes of all issues about a corrected file: they belong to one generation only.
pub const CORRECTED_ISSUES: &str = "corrected_";

impl Job {
    /// Returns true if the job has ended with remaining items: failed or never processed. False for a deleted job.
    pub fn has_remaining(&self) -> bool {
        let ended = self.ended_for_good().done();
        self.status.is_final() && !self.is_deleted() && !(self.item_count_final() && ended == self.split.item_count)
    }

    /// Returns true if items of the ended job were never processed, or its file was not read to its end.
    pub fn has_unprocessed(&self) -> bool {
        let processed = self.completion.totals.unwrap_or_default().done();
        !self.item_count_final() || processed < self.split.item_count
    }

    /// Returns the size of the job's file in bytes. Each generation may write a report of this size.
    pub fn source_bytes(&self) -> u64 {
        self.file().map_or(0, |source| source.size_bytes)
    }

    /// Returns true if the job can be reopened: it has remaining items, and is neither an undo nor an import that is or
    /// was undone.
    pub fn is_reopenable(&self) -> bool {
        self.has_remaining() && self.undo.undone_by.is_none() && !self.is_undo()
    }

    /// Returns the time in seconds until which the job and its folder are kept. The items of a request are stored when
    /// the job is created, also if it starts later.
    pub fn kept_until(&self, retention_days: i64) -> i64 {
        let has_items = self.file().is_some_and(SourceFile::is_of_request);
        let stored = if has_items { self.times.created_at.plus_days(retention_days).seconds() } else { i64::MAX };
        self.times.expires_at.min(stored)
    }

    /// Returns true if the job has ended before the time of its start. Until then it is not reopened: its id has that
    /// time, so its writes would count as later than those of all other jobs.
    pub fn is_early(&self, now: Timestamp) -> bool {
        self.times.start_at.is_some_and(|start_at| now < start_at)
    }

    /// Reopens the job as a new generation over its failed and unprocessed items. Refused unless the requested
    /// generation is the current one, has ended and [can be reopened](Self::is_reopenable), and for an [early] job.
    ///
    /// [early]: Self::is_early
    pub fn reopen(&mut self, reopen: &Reopen) -> Transition {
        if self.generation != reopen.generation || !self.is_reopenable() || self.is_early(reopen.at) {
            return Transition::Refused;
        }
        *self = self.reopened(reopen);
        Transition::Made(Box::new(self.clone()))
    }

    /// Returns the job as [`Job::reopen`] leaves it, for a store that writes it on the same condition.
    #[must_use]
    pub fn reopened(&self, reopen: &Reopen) -> Self {
        let carried_over = CarriedOver {
            counts: self.ended_for_good(),
            groups: self.split.groups,
            split_ended: self.item_count_final(),
            replanned: self.retry.replanned,
            retried_groups: match reopen.selection {
                Selection::All => self.split.groups,
                _ => self.retry.carried_over.retried_groups,
            },
            cost: self.retry.carried_over.cost + self.completion.cost.unwrap_or_default(),
        };
        let mut used_corrections = self.retry.used_corrections.clone();
        used_corrections.extend(self.retry.selection.corrected().and_then(SourceFile::upload));
        let of_this_generation = |issue: &&JobError| issue.code.starts_with(CORRECTED_ISSUES);
        Self {
            generation: reopen.generation + 1,
            issues: self.issues.iter().filter(|issue| !of_this_generation(issue)).cloned().collect(),
            status: Status::Waiting,
            stage: Stage::Queued,
            stop: None,
            error: None,
            resends: 0,
            retry: RetryState {
                carried_over,
                selection: reopen.selection.clone(),
                used_corrections,
                ..self.retry.clone()
            },
            preparation: None,
            split: SplitState { sent_groups: self.split.groups, ended: false, ..self.split.clone() },
            completion: CompletionState::default(),
            times: JobTimes {
                reopened_at: Some(reopen.at),
                started_at: None,
                finished_at: None,
                updated_at: reopen.at,
                deadline_at: reopen.deadline_at,
                ..self.times.clone()
            },
            ..self.clone()
        }
    }

    /// Returns the counts of items that ended for good.
    fn ended_for_good(&self) -> Counts {
        Counts { failed: 0, ..self.completion.totals.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Cost, NanoDollars};
    use crate::ids::{ChunkId, JobId};
    use crate::tenant::TenantId;

    fn ended(status: Status, totals: Counts) -> Job {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        Job {
            status,
            stage: Stage::Done,
            split: SplitState { item_count: 10, groups: 2, ended: true, ..job.split.clone() },
            completion: CompletionState { totals: Some(totals), ..job.completion.clone() },
            ..job
        }
    }

    const REOPEN: Reopen = Reopen {
        generation: 0,
        at: Timestamp(5),
        deadline_at: Timestamp(9),
        selection: Selection::All,
        registration: None,
    };

    #[test]
    fn a_retry_carries_over_succeeded_and_skipped_items_and_reopens_the_others() {
        let mut job = ended(Status::Completed, Counts { succeeded: 6, failed: 3, skipped: 1 });
        let cost = Cost { queue: NanoDollars(500), ..Cost::default() };
        job.completion.cost = Some(cost);
        assert!(
            !Job { times: JobTimes { deleted_at: Some(Timestamp(1)), ..job.times.clone() }, ..job.clone() }
                .has_remaining()
        );
        assert!(matches!(job.reopen(&REOPEN), Transition::Made(_)));
        let counts = Counts { succeeded: 6, failed: 0, skipped: 1 };
        assert_eq!(
            job.retry.carried_over,
            CarriedOver { counts, groups: 2, split_ended: true, retried_groups: 2, cost, ..CarriedOver::default() }
        );
        assert_eq!((job.generation, job.status, job.stage), (1, Status::Waiting, Stage::Queued));
        assert!(job.item_count_final() && !job.split.ended && !job.all_done());
        assert_eq!(job.reopen(&REOPEN), Transition::Refused);
    }

    #[test]
    fn only_a_job_with_failed_or_unprocessed_items_can_be_retried() {
        let all = Counts { succeeded: 9, failed: 0, skipped: 1 };
        let some = Counts { succeeded: 4, failed: 0, skipped: 0 };
        for (status, totals, taken) in [
            (Status::Completed, all, false),
            (Status::Canceled, some, true),
            (Status::Running, some, false),
            (Status::Failed, Counts { failed: 1, ..some }, true),
        ] {
            let mut job = ended(status, totals);
            assert_eq!(matches!(job.reopen(&REOPEN), Transition::Made(_)), taken, "{status:?} {totals:?}");
        }
    }

    #[test]
    fn unprocessed_items_are_those_that_did_not_end_and_those_of_a_file_that_was_not_read_to_its_end() {
        let failed = |failed| ended(Status::Failed, Counts { succeeded: 6, failed, skipped: 1 });
        assert!(failed(2).has_unprocessed() && !failed(3).has_unprocessed());
        let mut unread = failed(3);
        unread.split.ended = false;
        assert!(unread.has_unprocessed());
        unread.retry.carried_over.split_ended = true;
        assert!(!unread.has_unprocessed(), "an earlier generation has read the file");
    }

    #[test]
    fn a_generation_has_its_own_corrected_file_with_its_own_issues_and_keeps_all_uploads() {
        let upload = |n: u128| crate::ids::FileGuid(uuid::Uuid::from_u128(n));
        let file = |n: u128| {
            let info = crate::ports::FileInfo { size_bytes: 1, etag: "e".into() };
            SourceFile::new(format!("uploads/t/{}", upload(n)), info, crate::records::Format::Csv, "f.csv")
        };
        let mut job = ended(Status::Completed, Counts { succeeded: 6, failed: 4, skipped: 0 });
        (job.source, job.retry.replanned) = (Some(file(1).into()), ChunkId { group: 2, chunk: 0 });
        job.issues = vec![JobError::new("column_not_in_schema", "")];
        let request = |generation, selection| Reopen { generation, selection, ..REOPEN };
        job.reopen(&request(0, Selection::Corrected(file(2))));
        assert_eq!(
            (job.retry.selection.corrected(), job.retry.carried_over.replanned),
            (Some(&file(2)), job.retry.replanned)
        );
        job.issues.push(JobError::new("corrected_rows_unknown", ""));
        (job.status, job.completion.totals) = (Status::Failed, Some(Counts::default()));
        job.reopen(&request(1, Selection::All));
        assert_eq!((job.generation, &job.retry.selection), (2, &Selection::All));
        assert_eq!(job.uploads(), [upload(1), upload(2)].into());
        assert_eq!(job.issues, [JobError::new("column_not_in_schema", "")]);
    }

    #[test]
    fn only_a_retry_of_all_failed_items_counts_as_a_full_retry() {
        let mut job = ended(Status::Completed, Counts { succeeded: 6, failed: 4, skipped: 0 });
        let selection = Selection::Chunks([ChunkId { group: 1, chunk: 3 }].into());
        job.reopen(&Reopen { selection: selection.clone(), ..REOPEN });
        assert_eq!(
            (&job.retry.selection, job.retry.carried_over.retried_groups),
            (&selection, 0),
            "the others that failed were left out"
        );
        (job.status, job.completion.totals, job.split.groups) =
            (Status::Completed, Some(Counts { failed: 2, ..Counts::default() }), 3);
        job.reopen(&Reopen { generation: 1, ..REOPEN });
        assert_eq!((&job.retry.selection, job.retry.carried_over.retried_groups), (&Selection::All, 3));
    }

    #[test]
    fn old_groups_count_as_done_and_new_ones_do_not() {
        let mut job = ended(Status::Completed, Counts { succeeded: 7, failed: 3, skipped: 0 });
        job.split.done_groups = [0, 1].into();
        job.reopen(&REOPEN);
        (job.split.groups, job.split.ended) = (3, true);
        assert!(!job.all_done());
        job.split.done_groups.insert(2);
        assert!(job.all_done());
    }
}
