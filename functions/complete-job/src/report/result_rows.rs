//! The rows of a results file, from the lines of the workers: CSV, and lines with some members only.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use longshore::formula::harmless;
use longshore_domain::results::{ColumnsFrom, Formulas, ResultRow, ResultsForm};
use longshore_domain::text::{NAME_CHARS, shortened};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::members::members;
use super::row::push_cell;
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
    /// Members without a column, if the columns are those of the first records.
    left_out: BTreeSet<String>,
}

/// A line with the number of its item.
#[derive(Deserialize)]
struct NumberedLine<'a> {
    number: u64,
    #[serde(borrow)]
    output: &'a RawValue,
}

impl ResultRows {
    pub(super) fn new(form: &ResultsForm) -> Self {
        Self { form: form.clone(), left_out: BTreeSet::new() }
    }

    /// Returns the names of the first members without a column, if the columns are those of the first records.
    pub(super) fn left_out(&self) -> &BTreeSet<String> {
        &self.left_out
    }

    /// Continues with members that were left out before.
    pub(super) fn set_left_out(&mut self, left_out: BTreeSet<String>) {
        self.left_out = left_out;
    }

    /// Appends the header.
    pub(super) fn append_header(&self, out: &mut Vec<u8>) {
        if self.form.bom {
            out.extend_from_slice("\u{feff}".as_bytes());
        }
        let number = (self.form.row == ResultRow::Numbered).then_some(NUMBER);
        let columns = self.form.columns.iter().map(|column| column.heading.as_str());
        let output = self.form.columns.is_empty().then_some(OUTPUT);
        let mut row = self.row(out);
        number.into_iter().chain(columns).chain(output).for_each(|heading| row.cell(heading.as_bytes()));
        row.end();
    }

    /// Appends each line with the members that are columns, under their headings.
    pub(super) fn append_lines(&mut self, out: &mut Vec<u8>, lines: &[u8]) -> Result<(), CompleteError> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match self.form.row {
                ResultRow::Plain => self.append_members(out, line)?,
                ResultRow::Numbered => {
                    let NumberedLine { number, output } = serde_json::from_slice(line)?;
                    // Writing to a vector cannot fail.
                    let _ = write!(out, "{{\"number\":{number},\"output\":");
                    self.append_members(out, output.get().as_bytes())?;
                    out.push(b'}');
                }
            }
            out.push(b'\n');
        }
        Ok(())
    }

    fn append_members(&mut self, out: &mut Vec<u8>, output: &[u8]) -> Result<(), CompleteError> {
        out.push(b'{');
        let members = self.members(output);
        let present = self.form.columns.iter().zip(members).filter_map(|(column, value)| Some((column, value?)));
        for (at, (column, value)) in present.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            serde_json::to_writer(&mut *out, &column.heading)?;
            out.push(b':');
            out.extend_from_slice(value.get().as_bytes());
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends a row for each line.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, lines: &[u8]) -> Result<(), CompleteError> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut row = self.row(out);
            match self.form.row {
                ResultRow::Plain => self.append_output(&mut row, line),
                ResultRow::Numbered => {
                    let NumberedLine { number, output } = serde_json::from_slice(line)?;
                    row.cell(number.to_string().as_bytes());
                    self.append_output(&mut row, output.get().as_bytes());
                }
            }
            row.end();
        }
        Ok(())
    }

    fn append_output(&mut self, row: &mut Row<'_>, output: &[u8]) {
        if self.form.columns.is_empty() {
            row.cell(output);
            return;
        }
        for value in self.members(output) {
            row.cell(text_of(value).as_bytes());
        }
    }

    fn members<'o>(&mut self, output: &'o [u8]) -> Vec<Option<&'o RawValue>> {
        let (is_kept, left_out) = (self.form.columns_from == ColumnsFrom::Records, &mut self.left_out);
        members(&self.form.columns, output, &mut |name| {
            if is_kept && left_out.len() < MAX_LEFT_OUT {
                left_out.insert(shortened(&String::from_utf8_lossy(name), NAME_CHARS));
            }
        })
    }

    fn row<'a>(&self, out: &'a mut Vec<u8>) -> Row<'a> {
        Row { out, delimiter: self.form.delimiter.byte(), formulas: self.form.formulas, is_first: true, is_blank: true }
    }
}

/// Returns the text of a value: a string as it is, nothing for `null` or a missing member, and for the others the JSON
/// that the handler wrote. A number keeps its digits.
fn text_of(value: Option<&RawValue>) -> Cow<'_, str> {
    let json = value.map_or("null", RawValue::get);
    match json.as_bytes().first() {
        // A string that no Rust string can hold, such as a lone surrogate, stays JSON.
        Some(b'"') => serde_json::from_str::<Text<'_>>(json).map_or(Cow::Borrowed(json), |text| text.0),
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
    fn cell(&mut self, cell: &[u8]) {
        let is_first = std::mem::replace(&mut self.is_first, false);
        if !is_first {
            self.out.push(self.delimiter);
        }
        self.is_blank = is_first && cell.is_empty();
        let shown = match self.formulas {
            Formulas::Escaped => harmless(cell),
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
mod tests {
    use longshore_domain::results::{Delimiter, ResultColumn};

    use super::*;

    fn csv(form: &ResultsForm, lines: &str) -> String {
        let (mut rows, mut out) = (ResultRows::new(form), Vec::new());
        rows.append_header(&mut out);
        rows.append(&mut out, lines.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn columns(names: &[(&str, &str)]) -> Vec<ResultColumn> {
        let column = |(name, heading): &(&str, &str)| ResultColumn { name: (*name).into(), heading: (*heading).into() };
        names.iter().map(column).collect()
    }

    #[test]
    fn an_output_without_columns_is_one_cell_of_json() {
        let lines = "{\"number\":1,\"output\":{\"a\":\"x,y\"}}\n{\"number\":2,\"output\":\"=1\"}\n";
        let expected = "number,output\r\n1,\"{\"\"a\"\":\"\"x,y\"\"}\"\r\n2,\"\"\"=1\"\"\"\r\n";
        assert_eq!(csv(&ResultsForm::default(), lines), expected.replace("\"\"\"=1\"\"\"", "\"'\"\"=1\"\"\""));
    }

    #[test]
    fn the_members_of_an_output_are_columns_under_their_headings() {
        let form = ResultsForm {
            row: ResultRow::Plain,
            columns: columns(&[("id", "Id"), ("b", "=b")]),
            delimiter: Delimiter::Semicolon,
            bom: true,
            ..ResultsForm::default()
        };
        let lines = "{\"id\":1.50,\"b\":true,\"c\":0}\n{\"b\":[1,\"x\"]}\n7\n{\"id\":\"=x\",\"b\":null}\n";
        let expected = "\u{feff}Id;'=b\r\n1.50;true\r\n;\"[1,\"\"x\"\"]\"\r\n;\r\n'=x;\r\n";
        assert_eq!(csv(&form, lines), expected);
        let raw = ResultsForm { formulas: Formulas::Raw, bom: false, ..form };
        assert!(csv(&raw, lines).ends_with("\r\n=x;\r\n"));
    }

    #[test]
    fn an_output_that_cannot_be_parsed_again_is_written_as_it_is() {
        let form = ResultsForm { columns: columns(&[("a", "a"), ("ä", "b")]), ..ResultsForm::default() };
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let outputs = [
            &format!("{{\"a\":{deep},\"\\u00e4\":12345678901234567890123}}"),
            "{\"a\":1e999,\"\\ud800\":1,\"ä\":\"\\ud800\"}",
            "{\"a\":0.1000000000000000055,\"a\":\"last\"}",
            "[1]",
        ];
        let lines = outputs.map(|output| format!("{{\"number\":1,\"output\":{output}}}\n")).concat();
        let deep = format!("1,{deep},12345678901234567890123\r\n");
        let expected = format!("number,a,b\r\n{deep}1,1e999,\"\"\"\\ud800\"\"\"\r\n1,last,\r\n1,,\r\n");
        assert_eq!(csv(&form, &lines), expected);
    }

    #[test]
    fn a_line_can_have_some_members_only_under_their_headings() {
        let select = |row, lines: &str| {
            let columns = columns(&[("b", "B \"x\""), ("a", "a")]);
            let form = ResultsForm { row, columns, columns_from: ColumnsFrom::Request, ..ResultsForm::default() };
            let (mut rows, mut out) = (ResultRows::new(&form), Vec::new());
            rows.append_lines(&mut out, lines.as_bytes()).unwrap();
            String::from_utf8(out).unwrap()
        };
        let lines = "{\"a\":1.50,\"b\":{\"c\":null},\"d\":0}\n{\"a\":null}\n{}\n7\n";
        let expected = "{\"B \\\"x\\\"\":{\"c\":null},\"a\":1.50}\n{\"a\":null}\n{}\n{}\n";
        assert_eq!(select(ResultRow::Plain, lines), expected);
        let numbered = select(ResultRow::Numbered, "{\"number\":3,\"output\":{\"a\":\"x\"}}\n");
        assert_eq!(numbered, "{\"number\":3,\"output\":{\"a\":\"x\"}}\n");
    }

    #[test]
    fn members_without_a_column_are_noted_if_the_columns_are_those_of_the_first_records() {
        let left_out = |columns_from| {
            let form = ResultsForm {
                row: ResultRow::Plain,
                columns: columns(&[("a", "a")]),
                columns_from,
                ..ResultsForm::default()
            };
            let mut rows = ResultRows::new(&form);
            let many: String = (0..30).map(|n| format!("{{\"a\":1,\"b{:02}\":2}}\n", n % 20)).collect();
            rows.append(&mut Vec::new(), many.as_bytes()).unwrap();
            rows.left_out().iter().cloned().collect::<Vec<_>>()
        };
        let first: Vec<_> = (0..10).map(|n| format!("b{n:02}")).collect();
        assert_eq!(left_out(ColumnsFrom::Records), first);
        assert!(left_out(ColumnsFrom::Request).is_empty() && left_out(ColumnsFrom::Type).is_empty());
    }

    #[test]
    fn an_empty_cell_alone_is_quoted_because_readers_skip_blank_lines() {
        let form = ResultsForm { row: ResultRow::Plain, columns: columns(&[("a", "a")]), ..ResultsForm::default() };
        assert_eq!(csv(&form, "{}\n{\"a\":\"x\\ny\"}\n"), "a\r\n\"\"\r\n\"x\ny\"\r\n");
    }
}
