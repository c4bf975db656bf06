//! A job over a part of an ended job: reads that job, checks that its part is still the one that was requested, and
//! copies its items.

use longshore::chunk::{ChunkError, EndedGroups};
use longshore::header::{FileHeader, HeaderError, read_header, unsplit_from};
use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobError, Part, PartSource, Source, SourceFile};
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::records::{Format, GivenReading};
use longshore_domain::results::ResultRow;
use longshore_domain::split::ChunkLimits;

use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::part_items::PartItems;
use crate::record_copier::RecordCopier;
use crate::splitter::{Splitter, Turn};
use crate::walk::Walk;

/// The reason why a part can no longer be read: an error of the job that copies it.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub(crate) enum SourceGone {
    /// The ended job, or one of its files, no longer exists.
    #[error("the job whose items were to be copied, or one of its files, no longer exists")]
    Missing,
    /// The ended job was retried, or one of its files has changed.
    #[error("the job whose items were to be copied was retried, or its files have changed")]
    Changed,
}

impl SourceGone {
    fn error(self, source: &PartSource) -> JobError {
        let id = source.job_id;
        match self {
            Self::Missing => {
                let message = format!("the job {id} was deleted or has expired before its items were copied");
                JobError::new("source_missing", message)
            }
            Self::Changed => {
                let message = format!("the job {id} was retried before its items were copied; create another job");
                JobError::new("source_changed", message)
            }
        }
    }
}

/// An ended job, whose groups no longer change.
pub(crate) struct EndedJob {
    pub(crate) job: Job,
    /// The part that is copied.
    pub(crate) part: Part,
    /// True if the rows of the results have the number of their item.
    pub(crate) is_numbered: bool,
    /// First byte of the file that is in no group, if it is copied.
    pub(crate) unsplit_from: Option<u64>,
    columns: Option<Vec<String>>,
    groups: Vec<Group>,
    older: Vec<Group>,
}

impl EndedJob {
    pub(crate) fn groups(&self) -> EndedGroups<'_> {
        EndedGroups { job: &self.job, groups: &self.groups, older: &self.older }
    }
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Copies the items of a part into the job, from its place on.
    pub(crate) async fn copy_part(
        &self,
        job: &Job,
        source: &PartSource,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Result<SplitEnd, Halt> {
        match self.try_copy(job, source, limits, turn).await {
            Err(Halt::SourceGone(gone)) => Err(self.fail(job, gone.error(source)).await),
            other => other,
        }
    }

    async fn try_copy(
        &self,
        job: &Job,
        source: &PartSource,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Result<SplitEnd, Halt> {
        let ended = self.ended_job(job, source).await?;
        let issues = match &ended.columns {
            Some(columns) => {
                let unknown = || SplitError::Definition(job.job_id.to_string());
                let definition = self.ports.store.definition(job.job_id).await?.ok_or_else(unknown)?;
                let (issues, detected) = self.check_header(job, &definition, columns, &[]).await?;
                self.ports.store.put_columns(job.job_id, columns, None, detected.as_ref()).await?;
                issues
            }
            None => Vec::new(),
        };
        let copier = RecordCopier { format: source.format, longest: limits.item_bytes };
        let items = PartItems::new(self.ports, &ended, copier, job.split.place.as_deref())?;
        Walk::new(self, job, items, limits, turn).run(&issues).await
    }

    /// Reads the ended job, if it is still the one that was requested.
    async fn ended_job(&self, job: &Job, source: &PartSource) -> Result<EndedJob, Halt> {
        let store = &self.ports.store;
        let read = store.progress(source.job_id).await?;
        let read = read.filter(|read| read.job.tenant == job.tenant && !read.job.is_deleted());
        let JobProgress { groups, job: mut ended } = read.ok_or(SourceGone::Missing)?;
        if ended.generation != source.generation || !ended.status.is_final() {
            return Err(SourceGone::Changed.into());
        }
        // Items of the table expire in any order, so a group can be gone before its job.
        if groups.len() != ended.split.groups as usize {
            return Err(SourceGone::Missing.into());
        }
        let definition = store.definition(source.job_id).await?.ok_or(SourceGone::Missing)?;
        let wants_unsplit = source.part == Part::Unprocessed && !ended.item_count_final();
        let needs_columns = source.part != Part::Results && source.format == Format::Csv;
        let needs_header =
            (wants_unsplit && ended.split.groups == 0) || (needs_columns && definition.columns.is_none());
        let header = match ended.file().filter(|_| needs_header) {
            Some(file) => Some(self.ended_header(job, file, definition.known_reading(file)).await?),
            None => None,
        };
        if let (Some(Source::File(file)), Some(header)) = (&mut ended.source, &header) {
            file.reading = file.reading.or(header.reading.filter(|_| ended.split.groups == 0));
        }
        let unsplit_from = wants_unsplit.then(|| unsplit_from(&ended, header.as_ref()));
        let columns = definition.columns.or(header.and_then(|header| header.columns));
        let (groups, older) = groups.into_iter().partition(|group| ended.owns(group.number));
        Ok(EndedJob {
            part: source.part,
            is_numbered: definition.results.is_some_and(|form| form.row == ResultRow::Numbered),
            unsplit_from,
            columns: columns.filter(|_| needs_columns),
            job: ended,
            groups,
            older,
        })
    }

    /// Reads the header of the ended job's file. The job fails if it cannot be read, as that job did.
    async fn ended_header(&self, job: &Job, file: &SourceFile, given: GivenReading) -> Result<FileHeader, Halt> {
        match read_header(&self.ports.files, file, given, given).await {
            Ok(header) => Ok(header),
            Err(HeaderError::Port(error)) => Err(error.into()),
            Err(HeaderError::Source(error)) => Err(self.fail(job, error).await),
            Err(HeaderError::Unprepared(_)) => Err(self.fail(job, unprepared(file)).await),
        }
    }
}

/// A job that was stopped before its file was prepared has no items.
fn unprepared(file: &SourceFile) -> JobError {
    let message = format!(
        "the job was stopped before its file {:?} was prepared, so none of its rows is known; retry that job, or create \
         another one for the file",
        file.name
    );
    JobError::new("source_not_prepared", message)
}

/// Returns the reason to stop if a file of the ended job no longer exists.
pub(crate) fn without_file(error: ChunkError) -> Halt {
    match error {
        ChunkError::WorkFileMissing(_) => SourceGone::Missing.into(),
        error => SplitError::from(error).into(),
    }
}
