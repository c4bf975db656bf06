//! Previews of undos: jobs of the world that change no record, and have the outcomes that the plain rules give.

use std::collections::BTreeMap;

use longshore_domain::history::RecordVersion;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status, UndoneImport};
use longshore_domain::ports::{CreatedRange, JobStore, JobsOf, JobsQuery};
use longshore_domain::tenant::TenantId;

use super::{World, now};
use crate::faults::count_fault;
use crate::kinds::Kind;
use crate::rows::ACTIONS;
use crate::{lineage, report, undos};

impl World {
    /// Returns true if a job is a preview whose import is deleted or removed. The import of an undo is kept.
    pub(super) fn has_lost_import(&self, job: &Job) -> bool {
        job.undo.undoes.is_some_and(|of| of.preview && self.is_gone(of.job_id))
    }

    /// Makes new previews of an import jobs of the world. The import does not name them, and the answer that names one
    /// can be lost.
    pub(super) fn adopt_previews(&mut self, import: JobId) {
        let tenant = TenantId::from_static(self.customer_of(import).tenant);
        let (metadata, limit) = (BTreeMap::new(), usize::MAX);
        let undos = Some(Kind::Undo.name());
        let query = JobsQuery {
            of: JobsOf::Tenant(&tenant),
            created: CreatedRange::ALL,
            status: None,
            job_type: undos,
            metadata: &metadata,
            limit,
            after: None,
        };
        for job in now(self.store.jobs(&query)).unwrap().jobs {
            let is_preview = job.undo.undoes.is_some_and(|of| of.job_id == import && of.preview);
            if !is_preview || self.customers.iter().any(|other| other.id == job.job_id) {
                continue;
            }
            let import = self.customer_of(import).seen.job.clone().expect("the import was seen");
            count_fault("preview begun");
            // Unlike an undo, a preview does not prevent that the import is reopened at the same time.
            match import.times.finished_at {
                None => count_fault("preview of a reopened import"),
                Some(ended) if job.times.created_at < ended.plus_seconds(self.environment.stall_s) => {
                    count_fault("preview before the stall time");
                }
                Some(_) => {}
            }
            self.adopt(job.job_id, &import);
        }
    }

    /// Checks the number of items of an undo or preview that has just ended, and the outcomes of a preview if no record
    /// of the dataset has changed since its creation.
    pub(super) fn check_preview(&self, preview: &Job) {
        let (items, least) = (preview.split.item_count as usize, self.customer().least);
        let is_complete = preview.status != Status::Completed || items >= least;
        assert!(is_complete, "{items} of {least} rows are items of {preview:?}");
        let Some(UndoneImport { job_id: import, preview: true, .. }) = preview.undo.undoes else { return };
        let of = self.dataset_of(import);
        let is_unchanged = lineage::changes(&of) == self.customer().changes;
        if !is_unchanged || preview.status != Status::Completed || preview.is_deleted() {
            return;
        }
        count_fault("preview of unchanged records");
        let versions = self.kinds.records.versions(&of);
        let reason = |key: &str| reason(versions.get(key), import, preview.job_id);
        let (skipped, failed) = (self.report_rows("skipped.csv"), self.report_rows("failed.csv"));
        for (row, skipped_with) in report::reasons(&self.files, preview) {
            if skipped[&row] == report::GONE {
                continue;
            }
            assert_eq!(Some(skipped_with.as_str()), reason(&skipped[&row]), "the reason of row {row} of a preview");
        }
        // The rows of the file keep their numbers, and those that a retry has filed again come after them. Of a part of
        // the file, it is not known where these begin.
        let rows = if preview.split.place.is_none() { items } else { least };
        for (row, possible) in (1..=rows).zip(&self.customer_of(import).possible) {
            // A corrected row can have either key.
            if possible.count_ones() == 1 && !skipped.contains_key(&row) && !failed.contains_key(&row) {
                let key = ACTIONS[possible.trailing_zeros() as usize];
                assert_eq!(reason(key), None, "row {row} of a preview has succeeded");
            }
        }
    }

    /// Checks that no preview has changed a record, also if it is deleted or removed.
    pub(super) fn check_that_previews_write_nothing(&self) {
        let undoes = self.customer().seen.job.as_ref().and_then(|job| job.undo.undoes);
        if let Some(UndoneImport { job_id: import, preview: true, .. }) = undoes {
            let has_changed = lineage::has_changed(&self.dataset_of(import), self.customer().id);
            assert!(!has_changed, "a preview has changed a record: {}", self.customer().id);
        }
    }
}

/// The reason for which an undo skips a key, by the version of its record.
fn reason(version: Option<&RecordVersion>, import: JobId, undo: JobId) -> Option<&'static str> {
    let version = version?;
    let is_restored_later = version.restored_by.is_some_and(|restored| restored.job > undo);
    let by_writer = undos::reason(version.writer.map(|writer| writer.job), import);
    by_writer.or(is_restored_later.then_some("changed_since"))
}
