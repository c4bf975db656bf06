//! The first rows of a file, and what would fail each of them.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::job::SourceFile;
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{Files, PortError};
use longshore_domain::records::{Format, Span};
use longshore_tabular::RecordConverter;
use serde::Serialize;
use serde::de::IgnoredAny;
use utoipa::ToSchema;

use crate::files::ResumingReader;
use crate::handler::{CellReader, PreparedJob, RawItem, Shape};

/// Maximum number of rows.
const ROWS: usize = 100;
/// Bytes that are read for them.
const BYTES: u64 = 64 * 1024;

/// A row of a file.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct FoundRow {
    /// Number of the row in a job, from 1.
    pub number: u64,
    /// Row of the sheet; `null` if the file is no workbook.
    #[serde(rename = "sheetRow")]
    #[schema(required = true)]
    pub sheet_row: Option<u32>,
    /// The cells of CSV; for JSON Lines the line. Bytes without a meaning are `U+FFFD`.
    pub cells: Vec<String>,
    /// The reason why the row would fail; `null` if it would not, or no job is intended.
    #[schema(required = true)]
    pub problem: Option<Problem>,
}

/// The reason why a row would fail.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = RowProblem)]
pub struct Problem {
    /// Stable code in snake case.
    pub code: String,
    /// The property, if it is known.
    #[schema(required = true)]
    pub field: Option<String>,
    /// The reason, for people.
    pub message: String,
}

impl From<Rejection> for Problem {
    fn from(Rejection { code, field, message, .. }: Rejection) -> Self {
        Self { code, field, message }
    }
}

/// Returns the names of the members of the first values of JSON Lines.
pub(super) async fn member_names(
    files: &impl Files,
    source: &SourceFile,
    start: u64,
) -> Result<Vec<String>, PortError> {
    let rows = first(files, source, start, &[], None).await?.unwrap_or_default();
    let values = rows.iter().flat_map(|row| &row.cells);
    let objects = values.filter_map(|text| serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).ok());
    let names: BTreeSet<String> = objects.flat_map(BTreeMap::into_keys).collect();
    Ok(names.into_iter().collect())
}

/// Reads the rows from `start` on; `None` if the file was removed or replaced. A row that is cut off after [`BYTES`] is
/// left out.
pub(super) async fn first(
    files: &impl Files,
    source: &SourceFile,
    start: u64,
    columns: &[String],
    prepared: Option<&dyn PreparedJob>,
) -> Result<Option<Vec<FoundRow>>, PortError> {
    let end = source.size_bytes.min(start.saturating_add(BYTES));
    let Some(bytes) = ResumingReader::read_range(files, source, start..end).await? else { return Ok(None) };
    let (mut cutter, mut spans) = (source.cutter(0), Vec::new());
    cutter.feed(&bytes, &mut |span| spans.push(span));
    spans.extend(cutter.finish().filter(|_| end == source.size_bytes));
    let mut converter = source.reading.and_then(RecordConverter::new);
    let mut cells = CellReader::default();
    let row = |(number, span): (u64, Span)| {
        let mut record = Vec::new();
        match &mut converter {
            Some(converter) => converter.append(span.content(&bytes), span.unterminated, &mut record),
            None => record.extend_from_slice(span.content(&bytes)),
        }
        let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
        let texts = match source.format {
            Format::Csv => cells.read(&record).iter().map(text).collect(),
            Format::JsonLines => vec![text(&record)],
        };
        let shape = Shape::Record { format: source.format, columns, bytes: &record, unterminated: span.unterminated };
        let problem = prepared.and_then(|prepared| prepared.check_item(&RawItem { number, shape }, &mut cells).err());
        FoundRow { number, sheet_row: None, cells: texts, problem: problem.map(Problem::from) }
    };
    Ok(Some((1..).zip(spans).take(ROWS).map(row).collect()))
}
