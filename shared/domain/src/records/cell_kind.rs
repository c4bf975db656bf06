//! The kind of a cell in the text of a prepared sheet.
//!
//! CSV has no types: `1.234` is text that has a value only in the notation of its column. A cell of a workbook can be a
//! number, or an error without a value. A mark before the text of such a cell tells so. The marks are no characters: the
//! Unicode Standard reserves them for use within a program ([section 23.7](https://www.unicode.org/versions/latest/)).
//! Whatever shows a cell or passes it on leaves the marks out.

use std::borrow::Cow;

/// The first bytes of every mark.
const MARK_START: &[u8] = &[0xEF, 0xB7];

/// The mark of a cell without a value. It is before the text that the cell shows, and again before the reason.
const ERROR_MARK: char = '\u{fdd0}';

/// The mark of a number.
const NUMBER_MARK: char = '\u{fdd1}';

/// The kind of a cell.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CellKind<'a> {
    /// A text, which can have a value in the notation of its column. Every cell of a file that is no workbook is one.
    Text,
    /// A number with a decimal point, whatever the notation of its column is.
    Number,
    /// A cell that has no usable value for this reason, such as `#N/A`.
    Error(&'a str),
}

impl<'a> CellKind<'a> {
    /// Returns the kind and the text of a cell.
    pub fn split(cell: &'a [u8]) -> (Self, &'a [u8]) {
        let mut mark = [0; 4];
        if !cell.starts_with(MARK_START) {
            return (Self::Text, cell);
        }
        if let Some(number) = cell.strip_prefix(NUMBER_MARK.encode_utf8(&mut mark).as_bytes()) {
            return (Self::Number, number);
        }
        let Some(error) = cell.strip_prefix(ERROR_MARK.encode_utf8(&mut mark).as_bytes()) else {
            return (Self::Text, cell);
        };
        let error = std::str::from_utf8(error).unwrap_or_default();
        let (shown, reason) = error.split_once(ERROR_MARK).unwrap_or((error, "the cell has no usable value"));
        (Self::Error(reason), shown.as_bytes())
    }

    /// Returns the text of a cell of this kind with its marks. A text that begins with a mark loses it, so that no
    /// client can write one.
    pub fn marked(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Text => text.trim_start_matches([ERROR_MARK, NUMBER_MARK]).into(),
            Self::Number => format!("{NUMBER_MARK}{text}").into(),
            Self::Error(reason) => format!("{ERROR_MARK}{text}{ERROR_MARK}{reason}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CellKind;

    #[test]
    fn a_marked_cell_has_its_kind_and_its_text() {
        for (kind, text) in [
            (CellKind::Text, "1.5"),
            (CellKind::Text, "\u{fdfa}"),
            (CellKind::Text, ""),
            (CellKind::Number, "1.5"),
            (CellKind::Error("no value"), "#N/A"),
            (CellKind::Error("no result"), ""),
        ] {
            let cell = kind.marked(text);
            assert_eq!(CellKind::split(cell.as_bytes()), (kind, text.as_bytes()), "{cell:?}");
        }
    }

    #[test]
    fn a_text_cannot_have_a_mark() {
        for mark in ["\u{fdd0}", "\u{fdd1}", "\u{fdd1}\u{fdd0}"] {
            assert_eq!(CellKind::Text.marked(&format!("{mark}x")), "x");
        }
    }
}
