//! Fuzz target for the conversion of files that cannot be split: no library panics, every limit holds, and the text is
//! one that the splitter reads, or refuses with a reason.
//!
//! The input is the file. A file whose first bytes are of no form is converted as a workbook and as an archive anyway,
//! so that the parsers see what a signature would keep from them.

use std::io::Cursor;

use longshore_domain::records::{Form, Format, GivenReading};
use longshore_domain::sheet_rows::SheetRows;
use longshore_preparation::{Limits, PreparationError, SheetChoice, convert};

use crate::splitter::header;

/// Maximum size of the text. It is small, so that an input takes milliseconds.
const OUTPUT_BYTES: u64 = 1 << 20;

pub(crate) fn check(input: &[u8]) {
    match Form::detect(input) {
        Some(form) => converted(form, input),
        None => [Form::Workbook, Form::Zip, Form::Gzip, Form::Zstd].into_iter().for_each(|form| converted(form, input)),
    }
}

fn converted(form: Form, input: &[u8]) {
    let (limits, mut text) = (Limits { output_bytes: OUTPUT_BYTES, ..Limits::default() }, Vec::new());
    let converted = convert(form, Cursor::new(input), &SheetChoice::FirstVisible, &limits, &mut text);
    assert!(text.len() as u64 <= OUTPUT_BYTES, "{} bytes", text.len());
    let prepared = match converted {
        Ok(prepared) => prepared,
        Err(error) => return refused(&error),
    };
    assert_eq!(prepared.bytes, text.len() as u64);
    if prepared.sheet.is_some() {
        rows_in_order(prepared.row_steps.as_bytes());
        assert!(std::str::from_utf8(&text).is_ok(), "the text of a sheet is UTF-8");
    }
    // It is read, or refused with a reason, and in any case does not have to be prepared again.
    if let Err(error) = header(Format::Csv, &text, GivenReading::default()) {
        assert_ne!(error.code, "unprepared", "{text:?}");
    }
}

fn refused(error: &PreparationError) {
    let text = error.to_string();
    assert!(error.code().is_some(), "a file in memory has no errors of the storage: {text}");
    assert!(text.chars().count() < 1_000 && !text.chars().any(char::is_control), "{text}");
}

/// The numbers of rows begin with 1 and increase.
fn rows_in_order(steps: &[u8]) {
    let SheetRows::Listed(rows) = SheetRows::from_steps(steps) else { panic!("rows without numbers") };
    assert!(rows.first().is_none_or(|first| *first >= 1) && rows.is_sorted_by(|a, b| a < b), "{rows:?}");
}
