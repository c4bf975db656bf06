//! Conversion of records to UTF-8 with commas and double quotes, the form in which everything after the split has them.

use std::borrow::Cow;

use longshore_domain::records::{Dialect, Reading};
use memchr::{memchr, memchr_iter, memchr2, memchr3};

use crate::cells::CellReader;

/// A byte that is never part of UTF-8. It takes the place of what has no meaning in the encoding of the file, so that
/// the record is not valid afterwards either.
const NOT_UTF8: u8 = 0xFF;

/// Converts the records of a file, with reused buffers.
#[derive(Debug)]
pub struct RecordConverter {
    reading: Reading,
    cells: CellReader,
}

impl RecordConverter {
    /// Creates the converter of a file's records; `None` if they need no conversion.
    pub fn new(reading: Reading) -> Option<Self> {
        (!reading.is_plain()).then(|| Self { reading, cells: CellReader::new(reading.dialect) })
    }

    /// Appends a record without its terminator. A record that is `unterminated`, because the file ended within its
    /// quotes, is unterminated afterwards, too.
    pub fn append(&mut self, record: &[u8], unterminated: bool, out: &mut Vec<u8>) {
        let text = self.text(record);
        let Dialect { delimiter, quote } = self.reading.dialect;
        if self.reading.dialect == Dialect::default() {
            return out.extend_from_slice(&text);
        }
        let quotes = quote.byte().is_some_and(|quote| memchr(quote, &text).is_some());
        if !quotes && memchr2(b',', b'"', &text).is_none() {
            let start = out.len();
            out.extend_from_slice(&text);
            out[start..].iter_mut().filter(|byte| **byte == delimiter.byte()).for_each(|byte| *byte = b',');
            return;
        }
        let cells = self.cells.read(&text);
        let last = cells.len().saturating_sub(1);
        for (i, cell) in cells.encoded().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            if unterminated && i == last {
                out.push(b'"');
                push_doubled(out, cell);
            } else if cell.is_empty() && last == 0 {
                // An empty line is no record.
                out.extend_from_slice(b"\"\"");
            } else {
                push_cell(out, cell, b',');
            }
        }
    }

    fn text<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        let encoding = self.reading.encoding;
        if encoding.is_utf8() || record.is_ascii() {
            return Cow::Borrowed(record);
        }
        match encoding.decode(record) {
            Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
            Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            None => {
                let mut text = Vec::with_capacity(record.len() * 2);
                encoding.decode_with(record, |part| match part {
                    Some(part) => text.extend_from_slice(part.as_bytes()),
                    None => text.push(NOT_UTF8),
                });
                Cow::Owned(text)
            }
        }
    }
}

/// Appends a cell, quoted if it has a delimiter, a quote or a line break.
pub fn push_cell(out: &mut Vec<u8>, cell: &[u8], delimiter: u8) {
    if memchr3(b'"', delimiter, b'\n', cell).is_none() && memchr(b'\r', cell).is_none() {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    push_doubled(out, cell);
    out.push(b'"');
}

/// Appends text with each quote doubled.
fn push_doubled(out: &mut Vec<u8>, cell: &[u8]) {
    let mut start = 0;
    for quote in memchr_iter(b'"', cell) {
        out.extend_from_slice(&cell[start..=quote]);
        start = quote;
    }
    out.extend_from_slice(&cell[start..]);
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{Delimiter, Quote, TextEncoding};

    use super::*;

    fn reading(encoding: &str, delimiter: Delimiter, quote: Quote) -> Reading {
        let encoding = TextEncoding::named(encoding).unwrap();
        Reading { encoding, dialect: Dialect { delimiter, quote }, ..Reading::default() }
    }

    fn converted(reading: Reading, record: &[u8]) -> Vec<u8> {
        let mut out = b"x\n".to_vec();
        RecordConverter::new(reading).unwrap().append(record, false, &mut out);
        out.split_off(2)
    }

    #[test]
    fn a_record_becomes_utf8_with_commas_and_double_quotes() {
        let german = reading("windows-1252", Delimiter::Semicolon, Quote::Double);
        let single = reading("utf-8", Delimiter::Tab, Quote::Single);
        let none = reading("utf-8", Delimiter::Pipe, Quote::None);
        for (reading, record, expected) in [
            (german, &b"1;M\xfcller;x"[..], "1,M\u{fc}ller,x"),
            (german, b"1;\"M\xfcller; \"\"B\"\"\";x", "1,\"M\u{fc}ller; \"\"B\"\"\",x"),
            (german, b"1,5;\"a\nb\"", "\"1,5\",\"a\nb\""),
            (german, b"\"\"", "\"\""),
            (german, b"a", "a"),
            (single, b"'it''s'\t\"x\"", "it's,\"\"\"x\"\"\""),
            (none, b"\"a|b,c", "\"\"\"a\",\"b,c\""),
            (reading_of_japan(), b"\x93\xfa\x96\x7b,\"a\"", "\u{65e5}\u{672c},\"a\""),
        ] {
            assert_eq!(String::from_utf8_lossy(&converted(reading, record)), expected, "{reading:?}");
        }
        assert!(RecordConverter::new(Reading::default()).is_none());
    }

    fn reading_of_japan() -> Reading {
        reading("shift_jis", Delimiter::Comma, Quote::Double)
    }

    #[test]
    fn what_was_not_valid_is_not_valid_afterwards() {
        let german = reading("windows-1252", Delimiter::Semicolon, Quote::Double);
        assert_eq!(converted(german, b"a;caf\x81;\xe9"), [b"a,caf\xff,", "\u{e9}".as_bytes()].concat());
        assert_eq!(converted(reading_of_japan(), b"\x93\xfa,\x83"), ["\u{65e5},".as_bytes(), b"\xff"].concat());
        let utf8 = reading("utf-8", Delimiter::Semicolon, Quote::Double);
        assert_eq!(converted(utf8, b"a;caf\xe9"), b"a,caf\xe9");
        let mut out = Vec::new();
        RecordConverter::new(german).unwrap().append(b"1;\"a;\"\"b\n2;c", true, &mut out);
        assert_eq!(out, b"1,\"a;\"\"b\n2;c");
    }
}
