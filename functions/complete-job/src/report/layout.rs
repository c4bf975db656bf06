//! Layout of the input: the columns, and the part that was never split.

use longshore::failures_file::Columns;
use longshore::header::{FileHeader, HeaderError, read_header};
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Definition, Files, Store};
use longshore_domain::records::Format;
use serde_json::Value;

use crate::ending::Ending;
use crate::outcome::CompleteError;
use longshore::ports::Ports;

/// Layout of the input.
pub(crate) struct InputLayout {
    /// Columns that the rows of the report repeat.
    pub(super) columns: Columns,
    /// The only item of a job without a file.
    pub(super) options: Vec<u8>,
    /// The part of the input that is in no group.
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
    /// The whole source, because it cannot be read.
    Unreadable(JobError),
}

impl InputLayout {
    /// Reads the definition, and the header of the file if the definition is not sufficient. Reads nothing for a job
    /// whose items all succeeded.
    pub(crate) async fn read<S: Store, Q, F: Files>(
        ports: &Ports<S, Q, F>,
        ending: &Ending,
    ) -> Result<Self, CompleteError> {
        let job = &ending.job;
        if !ending.is_stopped() && !ending.all_groups().any(|g| g.cursors.values().any(|c| c.file.is_some())) {
            return Ok(Self { columns: Columns::Raw, options: Vec::new(), unsplit: Unsplit::Nothing });
        }
        let definition = ports.store.definition(job.job_id).await?;
        let definition = definition.unwrap_or(Definition { options: Value::Null, columns: None });
        let unsplit = ending.is_stopped() && !job.item_count_final();
        let Some(source) = &job.source else {
            let unsplit = if unsplit && job.split.groups == 0 { Unsplit::Item } else { Unsplit::Nothing };
            return Ok(Self { columns: Columns::Raw, options: definition.options.to_string().into_bytes(), unsplit });
        };
        let needs_header =
            (unsplit && job.split.groups == 0) || (source.format == Format::Csv && definition.columns.is_none());
        let header =
            if needs_header { SourceHeader::read(&ports.files, source).await? } else { SourceHeader::NotNeeded };
        let unsplit = if unsplit { header.unsplit(job) } else { Unsplit::Nothing };
        let columns = definition.columns.or_else(|| header.columns());
        let columns = Columns::from_names(source.format, columns).unwrap_or(Columns::Raw);
        Ok(Self { columns, options: Vec::new(), unsplit })
    }
}

/// Header of the input.
enum SourceHeader {
    NotNeeded,
    Found(FileHeader),
    Unreadable(JobError),
}

impl SourceHeader {
    async fn read(files: &impl Files, source: &SourceFile) -> Result<Self, CompleteError> {
        match read_header(files, source).await {
            Ok(header) => Ok(Self::Found(header)),
            Err(HeaderError::Source(error)) => Ok(Self::Unreadable(error)),
            Err(HeaderError::Port(error)) => Err(error.into()),
        }
    }

    /// Returns the unsplit part of a job that was stopped before the last group.
    fn unsplit(&self, job: &Job) -> Unsplit {
        match self {
            Self::Unreadable(error) if job.split.groups == 0 => Unsplit::Unreadable(error.clone()),
            Self::Found(header) if job.split.groups == 0 => Unsplit::From(header.start),
            _ => Unsplit::From(job.split.offset),
        }
    }

    fn columns(self) -> Option<Vec<String>> {
        if let Self::Found(header) = self { header.columns } else { None }
    }
}
