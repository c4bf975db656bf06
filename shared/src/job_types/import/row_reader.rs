//! The row that is being read; its memory is reused for the next row.
//!
//! Names, conversions and the memory of the cells are the same in every row of a file. Creating them for each row took
//! more than half of a row's time, so the last row is overwritten in place.

use std::borrow::Cow;

use longshore_domain::records::CellKind;
use longshore_domain::results::Formulas;
use longshore_domain::text::quoted;
use longshore_tabular::Ambiguity;
use serde_json::{Map, Value};

use super::conversion::{Conversion, Uncertain};
use super::options::ImportOptions;
use crate::formula::original;
use crate::handler::{Cells, Rejection, cell_error};

/// A file's columns and its last row.
#[derive(Debug, Default)]
pub(super) struct RowReader {
    /// The columns as they are in the file.
    header: Vec<String>,
    reads: Reads,
    columns: Vec<Column>,
    row: Value,
}

/// The columns that are read.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) enum Reads {
    /// All that the options do not leave out.
    #[default]
    All,
    /// The key.
    Key,
}

/// A column of a file.
#[derive(Debug)]
struct Column {
    /// The property of its cells; `None` if they are left out.
    property: Option<String>,
    conversion: Conversion,
    /// The conversion of the cells of a workbook that are numbers.
    number_conversion: Conversion,
}

impl RowReader {
    /// Reads cells by header. Unless the options say otherwise, an empty cell is an absent property: CSV cannot
    /// distinguish the two, and `required` then refuses an empty cell. A column without a name is omitted. Also returns
    /// the error of the first cell whose value is ambiguous, or that has none; its property is absent.
    pub(super) fn fill(
        &mut self,
        options: &ImportOptions,
        reads: Reads,
        header: &[String],
        cells: Cells<'_>,
    ) -> (&Value, Option<Rejection>) {
        if self.header != header || self.reads != reads {
            *self = Self::new(options, reads, header);
        }
        let mut error = None;
        if let Value::Object(row) = &mut self.row {
            for ((column, name), (kind, cell)) in self.columns.iter().zip(header).zip(cells.kinds()) {
                let Some(property) = &column.property else { continue };
                if let Some(no_value) = cell_error(name, kind) {
                    row.remove(property);
                    error.get_or_insert(no_value);
                    continue;
                }
                let cell = original_text(options.formulas, cell);
                let conversion = if kind == CellKind::Number { &column.number_conversion } else { &column.conversion };
                if let Err(uncertain) = put(row, property, conversion, &cell) {
                    row.remove(property);
                    error.get_or_insert_with(|| rejection(&uncertain, name, options.column_of(property), &cell));
                }
            }
        }
        (&self.row, error)
    }

    fn new(options: &ImportOptions, reads: Reads, header: &[String]) -> Self {
        let is_read = |property: &String| reads == Reads::All || *property == options.key;
        let column = |property: Option<String>| {
            let conversion = Conversion::new(options, property.as_deref().unwrap_or_default());
            Column {
                number_conversion: conversion.with_decimal_point(),
                conversion,
                property: property.filter(is_read),
            }
        };
        let columns = properties(options, header).into_iter().map(column).collect();
        Self { header: header.to_vec(), reads, columns, row: Value::Object(Map::new()) }
    }
}

/// Returns the properties of a header; `None` for a column that is left out.
pub(super) fn properties(options: &ImportOptions, header: &[String]) -> Vec<Option<String>> {
    let property = |name: &String| {
        let name = original_text(options.formulas, name.as_bytes());
        options.property(&name).filter(|property| !property.is_empty()).map(str::to_owned)
    };
    header.iter().map(property).collect()
}

/// Returns the text of a cell as it was before formulas were escaped. An apostrophe is removed at most, so it is UTF-8.
pub(super) fn original_text(formulas: Formulas, cell: &[u8]) -> Cow<'_, str> {
    let cell = match formulas {
        Formulas::Escaped => original(cell, b','),
        Formulas::Raw => Cow::Borrowed(cell),
    };
    match cell {
        Cow::Borrowed(cell) => std::str::from_utf8(cell).unwrap_or_default().into(),
        Cow::Owned(cell) => String::from_utf8(cell).unwrap_or_default().into(),
    }
}

fn put(row: &mut Map<String, Value>, property: &str, conversion: &Conversion, cell: &str) -> Result<(), Uncertain> {
    if let Some(text) = conversion.as_text(cell)
        && let Some(Value::String(last)) = row.get_mut(property)
    {
        last.clear();
        last.push_str(text);
        return Ok(());
    }
    match (row.get_mut(property), conversion.convert(cell)?) {
        (Some(last), Some(value)) => *last = value,
        (None, Some(value)) => _ = row.insert(property.to_owned(), value),
        (Some(_), None) => _ = row.remove(property),
        (None, None) => {}
    }
    Ok(())
}

fn rejection(uncertain: &Uncertain, column: &str, field: &str, cell: &str) -> Rejection {
    let (cell, column) = (quoted(cell), quoted(column));
    let ambiguous = |[first, second]: &[String; 2], unambiguous: &str, option: &str| {
        format!(
            "{cell} in the column {column} is {first} or {second}, and the first rows did not show which; write \
             {unambiguous}, or import the file again with the option {option}"
        )
    };
    let (code, message) = match uncertain {
        Uncertain::Notation(Ambiguity::Number(values)) => {
            ("ambiguous_number", ambiguous(values, "the number without grouping", "decimalSeparator"))
        }
        Uncertain::Notation(Ambiguity::Date(dates)) => {
            ("ambiguous_date", ambiguous(dates, "the date as in 2024-02-13", "dateOrder"))
        }
        Uncertain::Notation(Ambiguity::TwoDigitYear) => {
            let message = format!(
                "{cell} in the column {column} has a two-digit year; write four digits, or import the file again with \
                 the option pivotYear"
            );
            ("two_digit_year", message)
        }
        Uncertain::NoZone => {
            let message = format!(
                "{cell} in the column {column} is a time without a zone; write the time as in 2024-02-13T18:30:00+01:00, or \
                 import the file again with the option timeZone"
            );
            ("time_zone_missing", message)
        }
        Uncertain::Twice { zone, times: [first, second] } => {
            let message = format!(
                "{cell} in the column {column} is {first} or {second}, because the clock of {zone} is put back; write \
                 one of them"
            );
            ("ambiguous_time", message)
        }
        Uncertain::Never(zone) => {
            let message = format!(
                "{cell} in the column {column} is no time in {zone}, because its clock is put forward; correct it, or write \
                 the time as in 2024-02-13T18:30:00+01:00"
            );
            ("no_such_time", message)
        }
    };
    Rejection::new(code, Some(field), message)
}
