//! The input of a job, as far as the report needs it beyond the chunks: the columns, and the part that was not split
//! before the job was stopped, streamed record by record.

use longshore::failures_file::Columns;
use longshore::files::{RecordWindow, ResumingReader, StreamedRecord};
use longshore::header::{FileHeader, HeaderError, read_header};
use longshore::ports::Ports;
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Definition, Files, MultipartFiles, Read, Store};
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Reached;
use super::fallback::fitting;
use super::table::Table;
use crate::CompleteError;
use crate::ending::Ending;

/// Maximum size of a record that is listed with its bytes, so that one endless row does not fill the memory. A longer
/// one is listed only by its number. Equal to the default limit of an item in a job type.
const ROW_BYTES: u64 = 16 << 20;

/// Layout of the input.
pub(crate) struct InputLayout {
    /// Columns that the rows of the report repeat.
    pub(super) columns: Columns,
    /// The only item of a job without a file.
    pub(super) options: Vec<u8>,
    /// The part of the input that is in no group.
    pub(super) unsplit: Unsplit,
    /// The form of the results; `None` if the items have no output.
    pub(super) results: Option<ResultsForm>,
    /// True if the results are CSV, because they do not fit into the workbook that was requested.
    pub(super) results_as_csv: bool,
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
    /// Reads the definition, and the header of the file if the definition is not sufficient. Results are CSV in place
    /// of a workbook if `as_csv`, or if there are too many. Reads nothing if no item
    /// succeeded and no item is listed.
    pub(crate) async fn read<S: Store, Q, F: Files>(
        ports: &Ports<S, Q, F>,
        ending: &Ending,
        as_csv: bool,
    ) -> Result<Self, CompleteError> {
        let job = &ending.job;
        let is_listed =
            ending.is_stopped() || ending.all_groups().any(|g| g.cursors.values().any(|c| c.file.is_some()));
        let definition =
            if is_listed || ending.totals().succeeded > 0 { ports.store.definition(job.job_id).await? } else { None };
        let definition = definition.unwrap_or_else(|| Definition::new(Value::Null));
        let results = definition.results.map(|form| fitting(form, ending.totals().succeeded, as_csv));
        let (results, results_as_csv) = results.map_or((None, false), |(form, as_csv)| (Some(form), as_csv));
        if !is_listed {
            return Ok(Self {
                columns: Columns::Raw,
                options: Vec::new(),
                unsplit: Unsplit::Nothing,
                results,
                results_as_csv,
            });
        }
        let unsplit = ending.is_stopped() && !job.item_count_final();
        if job.dataset().is_some() {
            // A record whose key is in no group is not part of the job. The item of a record is its key.
            return Ok(Self {
                columns: Columns::Key,
                options: Vec::new(),
                unsplit: Unsplit::Nothing,
                results,
                results_as_csv,
            });
        }
        if let Some(part) = job.part() {
            // An item that was not copied is not part of the job.
            let columns = Columns::from_names(part.format, definition.columns).unwrap_or(Columns::Raw);
            return Ok(Self { columns, options: Vec::new(), unsplit: Unsplit::Nothing, results, results_as_csv });
        }
        let Some(source) = job.file() else {
            let unsplit = if unsplit && job.split.groups == 0 { Unsplit::Item } else { Unsplit::Nothing };
            let options = definition.options.to_string().into_bytes();
            return Ok(Self { columns: Columns::Raw, options, unsplit, results, results_as_csv });
        };
        let needs_header =
            (unsplit && job.split.groups == 0) || (source.format == Format::Csv && definition.columns.is_none());
        let header =
            if needs_header { SourceHeader::read(&ports.files, source).await? } else { SourceHeader::NotNeeded };
        let unsplit = if unsplit { header.unsplit(job) } else { Unsplit::Nothing };
        let columns = definition.columns.or_else(|| header.columns());
        let columns = Columns::from_names(source.format, columns).unwrap_or(Columns::Raw);
        Ok(Self { columns, options: Vec::new(), unsplit, results, results_as_csv })
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

/// A record of the source: its first byte, and its number.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct RecordAt {
    pub(super) offset: u64,
    pub(super) number: u64,
}

/// Writes a row for each record of the source from `at` on, and advances `at`. Returns `None` if the source has changed
/// or no longer exists.
pub(super) async fn write_unsplit<F: Files + MultipartFiles>(
    table: &mut Table<'_, F>,
    files: &F,
    source: &SourceFile,
    at: &mut RecordAt,
    due: &(impl Fn() -> bool + Sync),
) -> Result<Option<Reached>, CompleteError> {
    let mut rows = RecordWindow::starting_at(source.format, at.offset, ROW_BYTES);
    let mut reader = ResumingReader::new(files, source, at.offset);
    let start = at.offset;
    loop {
        match reader.next().await? {
            Read::Found(Some(block)) => {
                rows.feed(&block, &mut |record| write(table, record, at));
                at.offset = rows.reached();
            }
            Read::Found(None) => break,
            Read::Absent | Read::Changed => return Ok(None),
        }
        table.send_parts().await?;
        // A turn without a written row would be followed by another one indefinitely.
        if at.offset > start && due() && !rows.is_endless() {
            return Ok(Some(Reached::Due));
        }
    }
    rows.finish(&mut |record| write(table, record, at));
    at.offset = source.size_bytes;
    table.send_parts().await?;
    Ok(Some(Reached::End))
}

/// Writes a row of the unprocessed items; without its bytes if it is too long.
fn write<F: Files + MultipartFiles>(table: &mut Table<'_, F>, record: StreamedRecord<'_>, at: &mut RecordAt) {
    table.push(at.number, record.content.unwrap_or_default(), &[]);
    at.number += 1;
}
