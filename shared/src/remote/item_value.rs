//! An item as the JSON value of a request.

use std::str;

use longshore_domain::records::Format;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::handler::{CellReader, Cells, RawItem, Record, Rejection, Shape, malformed_json, unterminated};

/// Returns the value of an item: a line of JSON as it is, a row of CSV as an object with a string for each column, and
/// the data of a record.
///
/// # Errors
/// The reason why the item cannot be read; it fails without a call.
pub(super) fn item_value(item: &RawItem<'_>, cells: &mut CellReader) -> Result<Box<RawValue>, Rejection> {
    let unreadable = |error: serde_json::Error| Rejection::new("malformed_item", None, error.to_string());
    match item.shape {
        Shape::Options(options) => to_raw_value(options).map_err(unreadable),
        Shape::Stored(stored) => to_raw_value(&stored.record).map_err(unreadable),
        Shape::Record { unterminated: true, .. } => Err(unterminated(item.number)),
        Shape::Record { format: Format::JsonLines, bytes, .. } => {
            serde_json::from_slice::<Box<RawValue>>(bytes).map_err(|error| malformed_json(bytes, &error))
        }
        Shape::Record { format: Format::Csv, columns, bytes, .. } => {
            let record = Record::row(columns, bytes, cells.read(bytes))?;
            let Record::Row { columns, cells } = record else { return Err(unterminated(item.number)) };
            to_raw_value(&Row { columns, cells }).map_err(unreadable)
        }
    }
}

/// A row of CSV.
struct Row<'a> {
    columns: &'a [String],
    cells: Cells<'a>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells.iter()) {
            // The cells of a row are UTF-8.
            members.serialize_entry(column, str::from_utf8(cell).unwrap_or_default())?;
        }
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(format: Format, columns: &[&str], bytes: &str) -> Result<String, String> {
        let columns: Vec<_> = columns.iter().map(|column| (*column).to_owned()).collect();
        let shape = Shape::Record { format, columns: &columns, bytes: bytes.as_bytes(), unterminated: false };
        let value = item_value(&RawItem { number: 1, shape }, &mut CellReader::default());
        value.map(|value| value.get().to_owned()).map_err(|rejection| rejection.code)
    }

    #[test]
    fn a_row_is_an_object_of_strings_in_the_order_of_the_columns() {
        let expected = r#"{"b":"1","a":"x \"y\"","ä":""}"#;
        assert_eq!(value(Format::Csv, &["b", "a", "ä"], r#"1,"x ""y""","#), Ok(expected.into()));
        assert_eq!(value(Format::Csv, &["a"], "1,2"), Err("too_many_cells".into()));
    }

    #[test]
    fn a_line_is_its_own_value() {
        for line in [r#"{"a" : 1.00,  "a":2}"#, "12345678901234567890123", r#""\ud800""#, "null"] {
            assert_eq!(value(Format::JsonLines, &[], line), Ok(line.into()));
        }
        assert_eq!(value(Format::JsonLines, &[], "{"), Err("malformed_json".into()));
        assert_eq!(value(Format::JsonLines, &[], "{} {}"), Err("malformed_json".into()));
    }
}
