//! A page of failed items, and how a row of `failed.csv` becomes one.

use longshore::formula::original;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Damaged;
use super::rows::Row;

/// Cells beside the item's own: its number before them; code, field and message behind.
const BEFORE: usize = 1;
const BEHIND: usize = 3;

/// Bytes of the largest item that stands in a page.
const ITEM_BYTES: usize = 1 << 20;

/// A page of failed items.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Failures)]
pub struct FailuresDocument {
    /// The items, in the order of the file.
    pub failures: Vec<FailureDocument>,
    /// For the next page; `null` on the last one.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// An item that failed.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureDocument {
    /// Its number in the input, from 1.
    #[schema(minimum = 1)]
    pub number: u64,
    /// Why, stable, in snake case.
    pub code: String,
    /// Which column or property, if it was one.
    #[schema(required = true)]
    pub field: Option<String>,
    /// Why, for people.
    pub message: String,
    /// The item as it came. Of CSV an object, each cell by its column. Of JSON Lines the value of the line, or its text if
    /// it is no JSON. `null` if it is larger than 1 MiB: the CSV file has it.
    #[schema(required = true)]
    pub row: Option<Value>,
}

/// How the items of a job stand in its report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Layout {
    /// One cell for each of these columns.
    Columns(Vec<String>),
    /// One cell with JSON.
    Json,
}

impl Layout {
    /// Reads the header of a job's `failed.csv`.
    pub(super) fn new(job: &Job, header: &Row) -> Result<Self, Damaged> {
        let own = own(header)?;
        match &job.source {
            Some(source) if source.format == Format::Csv => {
                Ok(Self::Columns(own.iter().map(|cell| text(cell)).collect()))
            }
            _ => Ok(Self::Json),
        }
    }

    /// The item of a row.
    pub(super) fn failure(&self, row: &Row) -> Result<FailureDocument, Damaged> {
        let own = own(row)?;
        let reported = |n: usize| row.cells.get(BEFORE + own.len() + n).map(|cell| text(cell)).unwrap_or_default();
        let number = row.cells.first().and_then(|cell| text(cell).parse().ok()).ok_or(Damaged)?;
        let value = if row.cut { None } else { Some(self.value(own)?) };
        let value = value.filter(|value| value.to_string().len() <= ITEM_BYTES);
        Ok(FailureDocument {
            number,
            code: reported(0),
            field: Some(reported(1)).filter(|field| !field.is_empty()),
            message: reported(2),
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

/// The item's own cells.
fn own(row: &Row) -> Result<&[Vec<u8>], Damaged> {
    let end = row.cells.len().checked_sub(BEHIND).ok_or(Damaged)?;
    row.cells.get(BEFORE..end).ok_or(Damaged)
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(&original(cell)).into_owned()
}
