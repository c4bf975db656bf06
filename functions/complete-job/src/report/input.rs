//! The input of a job, as far as the report needs it beyond the chunks: the columns, and the part that was not split
//! before the job was stopped, streamed record by record.

use std::sync::Arc;

use longshore::failures_file::Columns;
use longshore::files::{RecordWindow, ResumingReader, StreamedRecord};
use longshore::header::{HeaderError, read_header, unsplit_from};
use longshore::ports::Ports;
use longshore_domain::job::{JobError, Source, SourceFile};
use longshore_domain::ports::{Definition, Files, MultipartFiles, Read, Store};
use longshore_domain::records::{Format, Reading};
use longshore_domain::results::ResultsForm;
use longshore_domain::sheet_rows::{ItemRows, SheetRows};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Reached;
use super::fallback::form_of_file;
use super::issues::file_not_prepared;
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
    /// The rows of the sheet, for a job over a workbook.
    pub(super) sheet: Option<Arc<ItemRows>>,
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
    From(Box<SourceFile>, u64),
    /// The whole source, because it cannot be read.
    Unreadable(JobError),
}

impl InputLayout {
    /// Reads the definition, and the header of the file if the definition is not sufficient. Results are CSV in place
    /// of a workbook if `as_csv`, or if there are too many. Reads nothing if no item succeeded and no item is listed.
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
        let results = definition.results.clone().map(|form| form_of_file(form, ending.totals().succeeded, as_csv));
        let (results, results_as_csv) = results.map_or((None, false), |(form, as_csv)| (Some(form), as_csv));
        let (columns, unsplit) = match &job.source {
            _ if !is_listed => (Columns::Raw, Unsplit::Nothing),
            // A record whose key is in no group is not part of the job. The item of a record is its key.
            Some(Source::Dataset(_)) => (Columns::Key, Unsplit::Nothing),
            // An item that was not copied is not part of the job.
            Some(Source::Job(part)) => (named(part.format, definition.columns.clone()), Unsplit::Nothing),
            Some(Source::File(file)) => file_layout(&ports.files, ending, file, &definition).await?,
            None if ending.has_unsplit() && job.split.groups == 0 => (Columns::Raw, Unsplit::Item),
            None => (Columns::Raw, Unsplit::Nothing),
        };
        let options = match &job.source {
            None if is_listed => definition.options.to_string().into_bytes(),
            _ => Vec::new(),
        };
        let sheet = match job.file().filter(|_| is_listed && job.is_over_sheet()) {
            Some(file) => {
                let found = if let Unsplit::From(source, _) = &unsplit { source.reading } else { definition.reading };
                Some(Arc::new(item_rows(&ports.files, file, file.reading.or(found)).await?))
            }
            None => None,
        };
        Ok(Self { columns, sheet, options, unsplit, results, results_as_csv })
    }
}

/// Returns the rows of a sheet that the items are.
async fn item_rows(files: &impl Files, file: &SourceFile, reading: Option<Reading>) -> Result<ItemRows, CompleteError> {
    let mut rows = file.original.as_deref().and_then(SheetRows::without_gaps);
    if rows.is_none()
        && let Read::Found(steps) = files.read(&file.row_steps_key(), None, None).await?
    {
        rows = Some(SheetRows::from_steps(&steps));
    }
    Ok(ItemRows { rows, header_row: reading.map_or(1, |reading| reading.header_row) })
}

/// Returns the columns and the unsplit part of a file. Its header is read only if it is needed.
async fn file_layout(
    files: &impl Files,
    ending: &Ending,
    file: &SourceFile,
    definition: &Definition,
) -> Result<(Columns, Unsplit), CompleteError> {
    let (job, has_unsplit) = (&ending.job, ending.has_unsplit());
    let needs_columns = file.format == Format::Csv && definition.columns.is_none();
    let known = definition.known_reading(file);
    let header = match (has_unsplit && job.split.groups == 0) || needs_columns {
        true => read_header(files, file, known, known).await.map(Some),
        false => Ok(None),
    };
    let (header, error) = match header {
        Ok(header) => (header, None),
        Err(HeaderError::Source(error)) => (None, Some(error)),
        Err(HeaderError::Unprepared(_)) => (None, Some(file_not_prepared())),
        Err(HeaderError::Port(error)) => return Err(error.into()),
    };
    let unsplit = match error {
        _ if !has_unsplit => Unsplit::Nothing,
        Some(error) if job.split.groups == 0 => Unsplit::Unreadable(error),
        _ => {
            let found = header.as_ref().and_then(|header| header.reading).filter(|_| job.split.groups == 0);
            let source = SourceFile { reading: file.reading.or(found), ..file.clone() };
            Unsplit::From(Box::new(source), unsplit_from(job, header.as_ref()))
        }
    };
    let columns = definition.columns.clone().or_else(|| header.and_then(|header| header.columns));
    Ok((named(file.format, columns), unsplit))
}

/// Returns the columns of these names. Without names, a row has its record in one column.
fn named(format: Format, names: Option<Vec<String>>) -> Columns {
    Columns::from_names(format, names).unwrap_or(Columns::Raw)
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
    let mut rows = RecordWindow::starting_at(source, at.offset, ROW_BYTES);
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
