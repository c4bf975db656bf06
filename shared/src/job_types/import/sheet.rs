//! The row that is being read; its memory is reused for the next row.
//!
//! Names, kinds and the memory of the cells are the same in every row of a file. Creating them for each row took more
//! than half of a row's time, so the last row is overwritten in place.

use std::borrow::Cow;

use longshore_domain::results::Formulas;
use serde_json::{Map, Value};

use super::kinds::{Kind, coerce};
use super::schema::Schema;
use crate::formula::original;
use crate::handler::Cells;

/// A file's columns and its last row.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// The columns as they are in the file.
    header: Vec<String>,
    /// Names of the properties.
    columns: Vec<String>,
    kinds: Vec<Kind>,
    row: Value,
}

impl Sheet {
    /// Reads cells by header. An empty cell is an absent property: CSV cannot distinguish the two, and `required` then
    /// refuses an empty cell. A column without a name is omitted.
    pub(super) fn fill(
        &mut self,
        schema: Option<&Schema>,
        formulas: Formulas,
        header: &[String],
        cells: Cells<'_>,
    ) -> &Value {
        if self.header != header {
            *self = Self::new(schema, formulas, header);
        }
        if let Value::Object(row) = &mut self.row {
            for ((column, kind), cell) in self.columns.iter().zip(&self.kinds).zip(cells.iter()) {
                let cell = unescaped(formulas, cell);
                put(row, column, std::str::from_utf8(&cell).unwrap_or_default(), *kind);
            }
        }
        &self.row
    }

    fn new(schema: Option<&Schema>, formulas: Formulas, header: &[String]) -> Self {
        let columns = names(formulas, header);
        let kind = |column: &String| schema.map_or(Kind::TEXT, |schema| schema.kind(column));
        let kinds = columns.iter().map(kind).collect();
        Self { header: header.to_vec(), columns, kinds, row: Value::Object(Map::new()) }
    }
}

/// Returns the names of the properties of a header.
pub(super) fn names(formulas: Formulas, header: &[String]) -> Vec<String> {
    // An apostrophe was removed at most, so the text is still UTF-8.
    header.iter().map(|name| String::from_utf8_lossy(&unescaped(formulas, name.as_bytes())).into_owned()).collect()
}

fn unescaped(formulas: Formulas, cell: &[u8]) -> Cow<'_, [u8]> {
    match formulas {
        Formulas::Escaped => original(cell, b','),
        Formulas::Raw => Cow::Borrowed(cell),
    }
}

fn put(row: &mut Map<String, Value>, column: &str, cell: &str, kind: Kind) {
    if cell.is_empty() || column.is_empty() {
        row.remove(column);
        return;
    }
    match row.get_mut(column) {
        Some(Value::String(text)) if kind.text => {
            text.clear();
            text.push_str(cell);
        }
        Some(value) => *value = coerce(cell, kind),
        None => _ = row.insert(column.to_owned(), coerce(cell, kind)),
    }
}
