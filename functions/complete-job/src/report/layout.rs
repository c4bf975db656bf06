//! Layout of the input: the columns, and the part that was never split.

use longshore::failures_file::Columns;
use longshore::header::{FileHeader, read_header};
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Definition, Files, Store};
use longshore_domain::records::Format;
use serde_json::Value;

use crate::ending::Ending;
use crate::error::CompleteError;
use longshore::ports::Ports;

/// Layout of the input.
pub(crate) struct Layout {
    /// Columns that the rows of the report repeat.
    pub(super) columns: Columns,
    /// The only item of a job without a file.
    pub(super) options: Vec<u8>,
    /// The part of the input that no group holds.
    pub(super) unsplit: Unsplit,
}

/// The part of the input that no group holds.
pub(super) enum Unsplit {
    /// No part.
    Nothing,
    /// The only item of a job without a file.
    Item,
    /// The source from this byte on.
    From(u64),
    /// The whole source, which cannot be read.
    Unreadable(JobError),
}

impl Layout {
    /// Reads the definition, and the header of the file if the definition is not sufficient. Reads nothing for a job
    /// whose items all succeeded.
    pub(crate) async fn read<S: Store, Q, F: Files>(
        ports: &Ports<S, Q, F>,
        ending: &Ending,
    ) -> Result<Self, CompleteError> {
        let job = &ending.job;
        if !ending.stopped() && !ending.all().any(|g| g.cursors.values().any(|c| c.file.is_some())) {
            return Ok(Self { columns: Columns::Raw, options: Vec::new(), unsplit: Unsplit::Nothing });
        }
        let definition = ports.store.definition(job.job_id).await?;
        let definition = definition.unwrap_or(Definition { options: Value::Null, columns: None });
        let unsplit = ending.stopped() && !job.item_count_final();
        let Some(source) = &job.source else {
            let unsplit = if unsplit && job.split.groups == 0 { Unsplit::Item } else { Unsplit::Nothing };
            return Ok(Self { columns: Columns::Raw, options: definition.options.to_string().into_bytes(), unsplit });
        };
        let needs_header =
            (unsplit && job.split.groups == 0) || (source.format == Format::Csv && definition.columns.is_none());
        let header = if needs_header { Some(read_header(&ports.files, source).await?) } else { None };
        Ok(Self::of_file(job, source, definition.columns, header, unsplit))
    }

    fn of_file(
        job: &Job,
        source: &SourceFile,
        stored: Option<Vec<String>>,
        header: Option<Result<FileHeader, JobError>>,
        unsplit: bool,
    ) -> Self {
        let unsplit = match &header {
            _ if !unsplit => Unsplit::Nothing,
            Some(Err(error)) if job.split.groups == 0 => Unsplit::Unreadable(error.clone()),
            Some(Ok(header)) if job.split.groups == 0 => Unsplit::From(header.start),
            _ => Unsplit::From(job.split.offset),
        };
        let read = || header.and_then(Result::ok).and_then(|header| header.columns);
        let columns = Columns::from_names(source.format, stored.or_else(read)).unwrap_or(Columns::Raw);
        Self { columns, options: Vec::new(), unsplit }
    }
}
