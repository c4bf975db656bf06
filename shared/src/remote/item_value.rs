//! An item as the JSON value of a request.

use longshore_domain::records::Format;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::handler::{
    CellReader, Cells, RawItem, Record, Rejection, Shape, first_cell_error, malformed_json, unterminated,
};

/// An item, which is written as its JSON value.
pub(crate) enum ItemValue<'a> {
    /// A line of JSON, as it is.
    Line(&'a RawValue),
    /// A row of CSV: an object with a string for each column.
    Row { columns: &'a [String], cells: Cells<'a> },
    /// The data of a record.
    Record(&'a Map<String, Value>),
    /// The options of the job.
    Options(&'a Value),
}

impl<'a> ItemValue<'a> {
    /// Reads an item.
    ///
    /// # Errors
    /// The reason why it cannot be read; it fails without a call.
    pub(super) fn read(item: &RawItem<'a>, cells: &'a mut CellReader) -> Result<Self, Rejection> {
        match item.shape {
            Shape::Options(options) => Ok(Self::Options(options)),
            Shape::Stored(stored) => Ok(Self::Record(&stored.record)),
            Shape::Record { unterminated: true, .. } => Err(unterminated(item.number)),
            Shape::Record { format: Format::JsonLines, bytes, .. } => {
                serde_json::from_slice(bytes).map(Self::Line).map_err(|error| malformed_json(bytes, &error))
            }
            Shape::Record { format: Format::Csv, columns, bytes, .. } => {
                let record = Record::row(columns, bytes, cells.read(bytes))?;
                let Record::Row { columns, cells } = record else { return Err(unterminated(item.number)) };
                first_cell_error(columns, cells).map_or(Ok(()), Err)?;
                Ok(Self::Row { columns, cells })
            }
        }
    }
}

impl Serialize for ItemValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (columns, cells) = match self {
            Self::Line(line) => return line.serialize(serializer),
            Self::Record(record) => return record.serialize(serializer),
            Self::Options(options) => return options.serialize(serializer),
            Self::Row { columns, cells } => (columns, cells),
        };
        let mut members = serializer.serialize_map(Some(columns.len()))?;
        for (column, cell) in columns.iter().zip(cells.utf8_texts()) {
            members.serialize_entry(column, cell)?;
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
        let mut cells = CellReader::default();
        let value = ItemValue::read(&RawItem { number: 1, shape }, &mut cells);
        value.map(|value| serde_json::to_string(&value).unwrap()).map_err(|rejection| rejection.code)
    }

    #[test]
    fn a_row_is_an_object_of_strings_in_the_order_of_the_columns() {
        let expected = r#"{"b":"1","a":"x \"y\"","ä":""}"#;
        assert_eq!(value(Format::Csv, &["b", "a", "ä"], r#"1,"x ""y""","#), Ok(expected.into()));
        assert_eq!(value(Format::Csv, &["a"], "1,2"), Err("too_many_cells".into()));
        assert_eq!(value(Format::Csv, &["a", "b"], "1,\u{fdd0}no"), Err("cell_error".into()));
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
