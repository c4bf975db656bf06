//! The original of a prepared file: what the client has uploaded, before it was converted into text that can be split.

use serde::{Deserialize, Serialize};

use super::{Job, Selection, Source, SourceFile, Stage, Transition};
use crate::ids::JobId;
use crate::ports::FileInfo;
use crate::records::Form;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The file from which a job's file was prepared.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Original {
    /// Object key.
    pub key: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag.
    pub etag: String,
    /// The form that was converted.
    pub form: Form,
    /// Name of the file in an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the sheet of a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The row of the sheet that the first line of the prepared file is. `None` for other forms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_row: Option<u32>,
    /// True if rows of the sheet are left out. The numbers of those that are not are in a file beside the prepared one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_row_gaps: bool,
    /// Number of prepared rows that the sheet hides.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_rows: u32,
    /// Number of merged ranges of the sheet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merged_ranges: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The progress of the preparation of a job's file.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preparation {
    /// Bytes of the file that have been read; 0 while the job waits for its turn.
    pub read_bytes: u64,
    /// Size of the file.
    pub size_bytes: u64,
}

impl Preparation {
    /// Creates the progress of a job that waits for its turn.
    pub const fn waiting(file: &SourceFile) -> Self {
        Self { read_bytes: 0, size_bytes: file.size_bytes }
    }

    /// Creates the progress after these bytes were read. It is more than that of a job that waits.
    pub fn after_reading(read_bytes: u64, file: &SourceFile) -> Self {
        Self { read_bytes: read_bytes.clamp(1, file.size_bytes.max(1)), size_bytes: file.size_bytes }
    }

    /// Returns the share that has been read.
    pub fn share(self) -> f64 {
        (self.read_bytes as f64 / self.size_bytes.max(1) as f64).min(1.0)
    }
}

impl SourceFile {
    /// Returns the key of a prepared file. Its name is unique, so no two preparations write the same file.
    pub fn prepared_key(tenant: &TenantId, id: JobId, name: &str) -> String {
        format!("{}{tenant}/{id}/prepared/{name}", super::source::JOB_FOLDERS)
    }

    /// Returns the key of the file with the numbers of the rows of a prepared sheet.
    pub fn row_steps_key(&self) -> String {
        format!("{}.rows", self.key)
    }

    /// Returns true if the file was prepared from a sheet of a workbook.
    pub fn is_sheet(&self) -> bool {
        self.original.as_ref().is_some_and(|original| original.sheet.is_some())
    }

    /// Returns the file that the client has uploaded: the original of a prepared file, or the file itself.
    #[must_use]
    pub fn as_uploaded(&self) -> Self {
        match &self.original {
            None => self.clone(),
            Some(original) => {
                let info = FileInfo { size_bytes: original.size_bytes, etag: original.etag.clone() };
                Self::new(original.key.as_str(), info, self.format, self.name.as_str())
            }
        }
    }

    /// Returns true if the file is the uploaded one with this key and entity tag, and not prepared.
    fn is_uploaded_as(&self, key: &str, etag: &str) -> bool {
        self.original.is_none() && (self.key.as_str(), self.etag.as_str()) == (key, etag)
    }
}

impl Job {
    /// Records that more of this uploaded file has been read for its preparation. Refused unless this generation is
    /// being split and has no group yet, if the file has been prepared, and if another preparation has read as much.
    pub fn record_preparation(
        &mut self,
        generation: u32,
        uploaded: &SourceFile,
        preparation: Preparation,
        now: Timestamp,
    ) -> Transition {
        let is_more = self.preparation.is_none_or(|recorded| recorded.read_bytes < preparation.read_bytes);
        if !self.can_be_prepared(generation) || self.uploaded_file(&uploaded.key, &uploaded.etag).is_none() || !is_more
        {
            return Transition::Refused;
        }
        self.preparation = Some(preparation);
        self.touch(now)
    }

    /// Replaces the job's file, or the corrected file of this generation, by this file, which was prepared from it, and
    /// resets the count of re-sends. Refused unless this generation is being split and has no group yet, and if the
    /// file has been prepared before.
    pub fn end_preparation(&mut self, generation: u32, prepared: &SourceFile, now: Timestamp) -> Transition {
        let can_be_prepared = self.can_be_prepared(generation);
        let Some(Original { key, etag, .. }) = prepared.original.as_deref() else { return Transition::Refused };
        match self.uploaded_file(key, etag).filter(|_| can_be_prepared) {
            Some(file) => *file = prepared.clone(),
            None => return Transition::Refused,
        }
        self.preparation = None;
        self.resends = 0;
        self.touch(now)
    }

    /// Returns the job's file, or the corrected file of this generation, if it is this uploaded one and not prepared.
    fn uploaded_file(&mut self, key: &str, etag: &str) -> Option<&mut SourceFile> {
        match (&mut self.source, &mut self.retry.selection) {
            (Some(Source::File(file)), _) if file.is_uploaded_as(key, etag) => Some(file),
            (_, Selection::Corrected(file)) if file.is_uploaded_as(key, etag) => Some(file),
            _ => None,
        }
    }

    /// Returns true if this generation is being split and has no group yet.
    pub fn can_be_prepared(&self, generation: u32) -> bool {
        let has_groups = self.split.groups > self.retry.carried_over.groups;
        self.stage == Stage::Splitting && self.generation == generation && !has_groups
    }

    /// Returns true if the job waits until its file is prepared, and nothing has been read of it.
    pub fn awaits_preparation(&self) -> bool {
        self.is_preparing() && self.preparation.is_some_and(|preparation| preparation.read_bytes == 0)
    }

    /// Returns true if the items are rows of a sheet, and the number of each tells its row. Those of an undo are also
    /// rows that retries of the import have planned again.
    pub fn is_over_sheet(&self) -> bool {
        self.file().is_some_and(SourceFile::is_sheet) && !self.is_undo()
    }

    /// Returns true if the file is being prepared, or waits for it.
    pub fn is_preparing(&self) -> bool {
        self.stage == Stage::Splitting && self.preparation.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Reopen, Status};
    use crate::records::Format;

    fn uploaded(key: &str) -> SourceFile {
        let info = FileInfo { size_bytes: 10, etag: "e".into() };
        SourceFile::new(key, info, Format::Csv, "people.csv.gz")
    }

    fn prepared(from: &SourceFile) -> SourceFile {
        let SourceFile { key, size_bytes, etag, .. } = from.clone();
        let original = Original {
            key,
            size_bytes,
            etag,
            form: Form::Gzip,
            file: None,
            sheet: None,
            first_row: None,
            has_row_gaps: false,
            hidden_rows: 0,
            merged_ranges: 0,
        };
        SourceFile {
            key: "jobs/t/1/prepared/x".into(),
            size_bytes: 99,
            original: Some(original.into()),
            ..from.clone()
        }
    }

    fn running(source: &SourceFile) -> Job {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        let (status, stage) = (Status::Running, Stage::Splitting);
        Job { status, stage, source: Some(source.clone().into()), resends: 2, ..job }
    }

    const HALF: Preparation = Preparation { read_bytes: 5, size_bytes: 10 };

    #[test]
    fn a_prepared_file_replaces_the_uploaded_one_once() {
        let source = uploaded("uploads/t/1");
        let mut job = running(&source);
        assert!(matches!(job.record_preparation(0, &source, HALF, Timestamp(1)), Transition::Made(_)));
        assert!(job.is_preparing());
        let file = prepared(&source);
        assert!(matches!(job.end_preparation(0, &file, Timestamp(2)), Transition::Made(_)));
        assert_eq!((job.file(), job.resends, job.is_preparing()), (Some(&file), 0, false));
        assert_eq!(job.file().unwrap().as_uploaded(), source);
        let again = SourceFile { key: "jobs/t/1/prepared/y".into(), ..file };
        assert_eq!(job.end_preparation(0, &again, Timestamp(3)), Transition::Refused);
        let late = job.record_preparation(0, &source, HALF, Timestamp(3));
        assert_eq!(late, Transition::Refused, "the percent would decrease");
    }

    #[test]
    fn only_more_than_before_is_progress() {
        let source = uploaded("uploads/t/1");
        let mut job = running(&source);
        for (read_bytes, is_made) in [(0, true), (0, false), (4, true), (3, false), (10, true)] {
            let made = job.record_preparation(0, &source, Preparation { read_bytes, ..HALF }, Timestamp(1));
            assert_eq!(matches!(made, Transition::Made(_)), is_made, "{read_bytes}");
        }
        assert_eq!(job.resends, 2, "a preparation that fails again and again does not count as progress");
    }

    #[test]
    fn a_job_that_is_stopped_split_or_in_another_generation_is_not_prepared() {
        let source = uploaded("uploads/t/1");
        let (job, file) = (running(&source), prepared(&source));
        let mut with_group = job.clone();
        with_group.split.groups = 1;
        for (job, generation) in [(Job { stage: Stage::Stopping, ..job.clone() }, 0), (with_group, 0), (job.clone(), 1)]
        {
            let mut changed = job.clone();
            assert_eq!(changed.record_preparation(generation, &source, HALF, Timestamp(1)), Transition::Refused);
            assert_eq!(changed.end_preparation(generation, &file, Timestamp(1)), Transition::Refused);
            assert_eq!(changed, job);
        }
        let mut of_another_file = running(&uploaded("uploads/t/2"));
        assert_eq!(of_another_file.end_preparation(0, &file, Timestamp(1)), Transition::Refused);
    }

    #[test]
    fn a_corrected_file_is_prepared_in_its_generation() {
        let corrected = uploaded("uploads/t/2");
        let mut job = running(&SourceFile { original: None, ..uploaded("uploads/t/1") });
        (job.status, job.stage, job.split.groups) = (Status::Failed, Stage::Done, 2);
        job.completion.totals = Some(crate::outcome::Counts::default());
        let selection = Selection::Corrected(corrected.clone());
        let (at, deadline_at) = (Timestamp(5), Timestamp(9));
        job.reopen(&Reopen { generation: 0, at, deadline_at, selection, registration: None });
        (job.status, job.stage) = (Status::Running, Stage::Splitting);
        let file = prepared(&corrected);
        assert!(matches!(job.end_preparation(1, &file, Timestamp(6)), Transition::Made(_)));
        assert_eq!(job.retry.selection.corrected(), Some(&file));
        assert_eq!(job.uploads().len(), 0, "the keys of this test are no ids");
    }
}
