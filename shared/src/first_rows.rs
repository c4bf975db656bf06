//! The first rows of a CSV file, from which its job type decides what the options leave open.

use longshore_domain::records::{CellKind, Extent, Reading, Span};

use crate::handler::CellReader;

/// A cell of the first rows.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FirstCell {
    /// The text that it shows.
    pub text: String,
    /// True for a number or an error of a workbook. The notation of its column does not apply to it.
    pub is_typed: bool,
}

impl From<&str> for FirstCell {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), is_typed: false }
    }
}

/// Returns the cells of the rows in these bytes of a file, which begin with a row at `offset`. Leaves out a row that is
/// cut off, is not text, or does not have a cell for each column.
pub(crate) fn first_rows(
    bytes: &[u8],
    offset: u64,
    reading: Reading,
    columns: usize,
    extent: Extent,
) -> Vec<Vec<FirstCell>> {
    let mut cutter = reading.cutter(offset);
    let mut spans: Vec<Span> = Vec::new();
    cutter.feed(bytes, &mut |span| spans.push(span));
    spans.extend(cutter.finish().filter(|_| extent == Extent::Whole));
    let mut cells = CellReader::new(reading.dialect);
    let row = |span: Span| {
        let record = bytes.get((span.start - offset) as usize..(span.content_end - offset) as usize)?;
        let record = reading.encoding.decode(record).filter(|_| !span.unterminated)?;
        let cells = cells.read(record.as_bytes());
        let cell = |(kind, text): (CellKind<'_>, &[u8])| FirstCell {
            text: String::from_utf8_lossy(text).into_owned(),
            is_typed: kind != CellKind::Text,
        };
        (cells.len() == columns).then(|| cells.kinds().map(cell).collect())
    };
    spans.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{Delimiter, Dialect, Quote, TextEncoding};

    use super::*;

    #[test]
    fn whole_rows_with_a_cell_for_each_column_are_read() {
        let dialect = Dialect { delimiter: Delimiter::Semicolon, quote: Quote::Double };
        let encoding = TextEncoding::named("windows-1252").unwrap();
        let reading = Reading { encoding, dialect, header_row: 1, comment: Some('#') };
        let bytes = b"1;M\xfcller\r\n# comment\r\n2;a;b\n\n3;\"x;\n\"\n4;\"cut";
        let expected = [["1", "M\u{fc}ller"], ["3", "x;\n"]];
        for (extent, bytes) in [(Extent::Whole, &bytes[..]), (Extent::Start, bytes)] {
            assert_eq!(
                first_rows(bytes, 7, reading, 2, extent),
                expected.map(|row| row.map(FirstCell::from)),
                "{extent:?}"
            );
        }
        assert_eq!(first_rows(b"1;2", 0, reading, 2, Extent::Whole), [["1", "2"].map(FirstCell::from)]);
        assert!(first_rows(b"1;2", 0, reading, 2, Extent::Start).is_empty());
    }
}
