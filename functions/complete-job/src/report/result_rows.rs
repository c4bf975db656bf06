//! The rows of a results file, from the lines of the workers: CSV, and lines with some members only. A workbook has the
//! cells of CSV.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use longshore::formula::harmless;
use longshore_domain::results::{ColumnsFrom, Formulas, ResultRow, ResultsForm};
use longshore_domain::text::{NAME_CHARS, shortened};
use longshore_tabular::push_cell;
use memchr::memchr;
use serde::{Deserialize, Serialize};

use super::members::{ResultCells, members, output_of};
use crate::CompleteError;

/// Heading of the column with the number of the item.
const NUMBER: &str = "number";
/// Heading of the only column of outputs without columns.
const OUTPUT: &str = "output";

/// Maximum number of names of members without a column that are kept.
const MAX_LEFT_OUT: usize = 10;

/// Converts lines to rows.
pub(super) struct ResultRows {
    form: ResultsForm,
    seen: SeenMembers,
}

/// The members of the outputs so far, compared with the columns.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenMembers {
    /// Names of the first members without a column, if the columns are those of some records.
    pub(super) left_out: BTreeSet<String>,
    /// Names of the columns that an output has, if the request has named the columns.
    found: BTreeSet<String>,
}

impl ResultRows {
    pub(super) fn new(form: &ResultsForm) -> Self {
        Self { form: form.clone(), seen: SeenMembers::default() }
    }

    pub(super) fn seen(&self) -> &SeenMembers {
        &self.seen
    }

    /// Continues after these members.
    pub(super) fn set_seen(&mut self, seen: SeenMembers) {
        self.seen = seen;
    }

    /// Returns the requested columns that no output has.
    pub(super) fn not_found(&self) -> impl Iterator<Item = &str> {
        let is_requested = self.form.columns_from == ColumnsFrom::Request;
        let names = self.form.columns.iter().map(|column| column.name.as_str());
        names.filter(move |name| is_requested && !self.seen.found.contains(*name))
    }

    /// Appends the header.
    pub(super) fn append_header(&self, out: &mut Vec<u8>) {
        if self.form.bom {
            out.extend_from_slice("\u{feff}".as_bytes());
        }
        let mut row = self.row(out);
        self.headings().for_each(|heading| row.cell(heading.as_bytes()));
        row.end();
    }

    /// Returns the headings of the columns.
    pub(super) fn headings(&self) -> impl Iterator<Item = &str> {
        let number = (self.form.row == ResultRow::Numbered).then_some(NUMBER);
        let columns = self.form.columns.iter().map(|column| column.heading.as_str());
        let output = self.form.columns.is_empty().then_some(OUTPUT);
        number.into_iter().chain(columns).chain(output)
    }

    /// Returns the cells of a line.
    pub(super) fn cells<'a>(&mut self, line: &'a [u8]) -> Result<ResultCells<'a>, serde_json::Error> {
        if self.has_columns() {
            return self.members(line);
        }
        let (number, output) = output_of(self.form.row, line)?;
        Ok(ResultCells { number, values: vec![Some(output)] })
    }

    /// Returns true if the members of an output are columns, and false if the output is one cell of JSON.
    pub(super) fn has_columns(&self) -> bool {
        !self.form.columns.is_empty()
    }

    /// Appends a line with the members that are columns, under their headings.
    pub(super) fn append_line(&mut self, out: &mut Vec<u8>, line: &[u8]) -> Result<(), CompleteError> {
        let ResultCells { number, values } = self.members(line)?;
        if let Some(number) = number {
            // Writing to a vector cannot fail.
            let _ = write!(out, "{{\"number\":{number},\"output\":");
        }
        out.push(b'{');
        let present = self.form.columns.iter().zip(values).filter_map(|(column, value)| Some((column, value?)));
        for (at, (column, value)) in present.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            serde_json::to_writer(&mut *out, &column.heading)?;
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
        out.extend_from_slice(if number.is_some() { b"}}\n" } else { b"}\n" });
        Ok(())
    }

    /// Appends the row of a line.
    pub(super) fn append_row(&mut self, out: &mut Vec<u8>, line: &[u8]) -> Result<(), CompleteError> {
        let ResultCells { number, values } = self.cells(line)?;
        let mut row = self.row(out);
        number.into_iter().for_each(|number| row.number(number));
        for json in values {
            let text = if self.has_columns() { text_of(json) } else { json.unwrap_or_default().into() };
            row.cell(text.as_bytes());
        }
        row.end();
        Ok(())
    }

    fn members<'o>(&mut self, line: &'o [u8]) -> Result<ResultCells<'o>, serde_json::Error> {
        let (columns, SeenMembers { left_out, found }) = (&self.form.columns, &mut self.seen);
        let is_noted = self.form.columns_from == ColumnsFrom::Records;
        let cells = members(columns, self.form.row, line, &mut |name| {
            if is_noted && left_out.len() < MAX_LEFT_OUT {
                left_out.insert(shortened(&String::from_utf8_lossy(name), NAME_CHARS));
            }
        })?;
        if self.form.columns_from == ColumnsFrom::Request && found.len() < columns.len() {
            let present = columns.iter().zip(&cells.values).filter(|(_, value)| value.is_some());
            for (column, _) in present {
                if !found.contains(&column.name) {
                    found.insert(column.name.clone());
                }
            }
        }
        Ok(cells)
    }

    fn row<'a>(&self, out: &'a mut Vec<u8>) -> Row<'a> {
        Row { out, delimiter: self.form.delimiter.byte(), formulas: self.form.formulas, is_first: true, is_blank: true }
    }
}

/// Returns the text of a value: a string as it is, nothing for `null` or a missing member, and for the others the JSON
/// that the handler wrote. A number keeps its digits.
pub(super) fn text_of(json: Option<&str>) -> Cow<'_, str> {
    let json = json.unwrap_or("null");
    match json.as_bytes() {
        // Without an escape, JSON is the text itself.
        [b'"', text @ .., b'"'] if memchr(b'\\', text).is_none() => Cow::Borrowed(&json[1..json.len() - 1]),
        // A string that no Rust string can hold, such as a lone surrogate, stays JSON.
        [b'"', ..] => serde_json::from_str::<Text<'_>>(json).map_or(Cow::Borrowed(json), |text| text.0),
        _ if json == "null" => Cow::Borrowed(""),
        _ => Cow::Borrowed(json),
    }
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A row that is being written.
struct Row<'a> {
    out: &'a mut Vec<u8>,
    delimiter: u8,
    formulas: Formulas,
    is_first: bool,
    /// True if the row would be a blank line, which readers skip.
    is_blank: bool,
}

impl Row<'_> {
    /// Appends a number, which needs neither quotes nor an apostrophe, as the first cell.
    fn number(&mut self, number: u64) {
        (self.is_first, self.is_blank) = (false, false);
        // Writing to a vector cannot fail.
        let _ = write!(self.out, "{number}");
    }

    fn cell(&mut self, cell: &[u8]) {
        let is_first = std::mem::replace(&mut self.is_first, false);
        if !is_first {
            self.out.push(self.delimiter);
        }
        self.is_blank = is_first && cell.is_empty();
        let shown = match self.formulas {
            Formulas::Escaped => harmless(cell, self.delimiter),
            Formulas::Raw => Cow::Borrowed(cell),
        };
        push_cell(self.out, &shown, self.delimiter);
    }

    fn end(self) {
        if self.is_blank {
            self.out.extend_from_slice(b"\"\"");
        }
        self.out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
#[path = "result_rows_tests.rs"]
mod tests;
