//! One record of any file format, as the input of a handler.

use csv::StringRecord;
use longshore_domain::ports::StoredRecord;
use longshore_domain::records::CellKind;
use longshore_domain::text::quoted;
use longshore_tabular::Cells;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Rejection;

/// One record of a file or of a dataset, or the options of a job with neither.
#[derive(Copy, Clone, Debug)]
pub enum Record<'a> {
    /// A CSV row with as many cells as there are columns.
    Row {
        /// Names of the columns.
        columns: &'a [String],
        /// Cells of the row, all UTF-8.
        cells: Cells<'a>,
    },
    /// A line of JSON Lines.
    Line(&'a [u8]),
    /// A record of a dataset.
    Stored(&'a StoredRecord),
    /// The options of a job without a file.
    Options(&'a Value),
}

impl<'a> Record<'a> {
    /// Checks a CSV row, whose `bytes` were unquoted into `cells`.
    ///
    /// # Errors
    /// `not_utf8`, `too_few_cells`, `too_many_cells`.
    pub fn row(columns: &'a [String], bytes: &[u8], cells: Cells<'a>) -> Result<Self, Rejection> {
        if std::str::from_utf8(bytes).is_err() {
            let message = "the row has bytes that are no text in the encoding of the file; save the file as UTF-8";
            return Err(Rejection::new("not_utf8", None, message));
        }
        let (actual, expected) = (cells.len(), columns.len());
        if actual == expected {
            return Ok(Self::Row { columns, cells });
        }
        let code = if actual < expected { "too_few_cells" } else { "too_many_cells" };
        Err(Rejection::new(code, None, format!("the row has {actual} cells, the header has {expected} columns")))
    }

    /// Parses the record with serde.
    ///
    /// # Errors
    /// `cell_error`; `malformed_row` or `malformed_json` with serde's message.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        match self {
            Self::Row { columns, cells } => {
                first_cell_error(columns, *cells).map_or(Ok(()), Err)?;
                let row: StringRecord = cells.utf8_texts().collect();
                let header = StringRecord::from_iter(columns.iter());
                row.deserialize(Some(&header)).map_err(|e| Rejection::new("malformed_row", None, e.to_string()))
            }
            Self::Line(line) => serde_json::from_slice(line).map_err(|e| malformed_json(line, &e)),
            Self::Stored(record) => {
                T::deserialize(Value::Object(record.record.clone())).map_err(|e: serde_json::Error| {
                    Rejection::new("malformed_record", None, format!("the record is not the expected JSON: {e}"))
                })
            }
            Self::Options(options) => T::deserialize((*options).clone())
                .map_err(|e: serde_json::Error| Rejection::new("malformed_options", None, e.to_string())),
        }
    }
}

/// Returns the reason to reject a row with a cell that has no usable value.
pub(crate) fn first_cell_error(columns: &[String], cells: Cells<'_>) -> Option<Rejection> {
    columns.iter().zip(cells.kinds()).find_map(|(column, (kind, _))| cell_error(column, kind))
}

/// Returns the reason to reject a cell of a workbook that has no usable value, such as `#N/A`.
pub(crate) fn cell_error(column: &str, kind: CellKind<'_>) -> Option<Rejection> {
    let CellKind::Error(reason) = kind else { return None };
    Some(Rejection::new("cell_error", Some(column), format!("{}: {reason}", quoted(column))))
}

/// Returns the reason why a line is not the expected JSON.
pub(crate) fn malformed_json(line: &[u8], error: &serde_json::Error) -> Rejection {
    if std::str::from_utf8(line).is_err() {
        return Rejection::new(
            "not_utf8",
            None,
            "the line has bytes that are no text in the encoding of the file; save the file as UTF-8",
        );
    }
    Rejection::new("malformed_json", None, format!("the line is not the expected JSON: {error}"))
}
