//! A page of failed items, and the conversion of a row of `failed.csv` to an item.

use longshore::failures_file::REPORT_COLUMNS;
use longshore::formula::original;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::error::Damaged;
use super::rows::Row;

/// Report cells around the item's own cells: the number before them; code, field and message after them.
const BEFORE: usize = 1;
const AFTER: usize = REPORT_COLUMNS.len();

/// Maximum size in bytes of an item on a page.
const ITEM_BYTES: usize = 1 << 20;

/// A page of failed items.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Failures)]
pub struct FailuresDocument {
    /// Failed items, in the order of the file.
    pub failures: Vec<FailureDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A failed item.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureDocument {
    /// Number of the item in the input, from 1.
    #[schema(minimum = 1)]
    pub number: u64,
    /// Stable error code in snake case.
    pub code: String,
    /// Column or property with the error; `null` if the error concerns the whole item.
    #[schema(required = true)]
    pub field: Option<String>,
    /// Error message for people.
    pub message: String,
    /// The original item. For CSV: an object with each cell by its column. For JSON Lines: the value of the line, or
    /// its text if it is not JSON. `null` if it is larger than 1 MiB: download the CSV file instead.
    #[schema(required = true)]
    pub row: Option<Value>,
}

/// Layout of a job's items in its report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum ItemLayout {
    /// One cell for each of these columns.
    Columns(Vec<String>),
    /// One cell with JSON.
    Json,
}

impl ItemLayout {
    /// Reads the layout from the header of a job's `failed.csv`.
    pub(super) fn new(job: &Job, header: &Row) -> Result<Self, Damaged> {
        let own = own(header)?;
        match &job.source {
            Some(source) if source.format == Format::Csv => {
                Ok(Self::Columns(own.iter().map(|cell| text(cell)).collect()))
            }
            _ => Ok(Self::Json),
        }
    }

    /// Converts a row to a failed item.
    pub(super) fn failure(&self, row: &Row) -> Result<FailureDocument, Damaged> {
        let own = own(row)?;
        let report_cell = |n: usize| row.cells.get(BEFORE + own.len() + n).map(|cell| text(cell)).unwrap_or_default();
        let number = row.cells.first().and_then(|cell| text(cell).parse().ok()).ok_or(Damaged)?;
        let value = if row.cut { None } else { Some(self.value(own)?) };
        let value = value.filter(|value| value.to_string().len() <= ITEM_BYTES);
        Ok(FailureDocument {
            number,
            code: report_cell(0),
            field: Some(report_cell(1)).filter(|field| !field.is_empty()),
            message: report_cell(2),
            row: value,
        })
    }

    fn value(&self, own: &[Vec<u8>]) -> Result<Value, Damaged> {
        match self {
            Self::Json => {
                let item = own.first().map(|cell| text(cell)).ok_or(Damaged)?;
                Ok(serde_json::from_str(&item).unwrap_or(Value::String(item)))
            }
            Self::Columns(columns) if columns.len() == own.len() => {
                let cells = own.iter().map(|cell| Value::String(text(cell)));
                Ok(Value::Object(columns.iter().cloned().zip(cells).collect::<Map<_, _>>()))
            }
            Self::Columns(_) => Err(Damaged),
        }
    }
}

/// Returns the item's own cells.
fn own(row: &Row) -> Result<&[Vec<u8>], Damaged> {
    let end = row.cells.len().checked_sub(AFTER).ok_or(Damaged)?;
    row.cells.get(BEFORE..end).ok_or(Damaged)
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(&original(cell)).into_owned()
}
