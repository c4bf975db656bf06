//! The kind of a cell in the text of a prepared sheet.
//!
//! CSV has no types: `1.234` is text that has a value only in the notation of its column. A cell of a workbook can be a
//! number, or an error without a value. Such a cell begins with a mark. The marks are noncharacters, which the Unicode
//! Standard reserves for use within a program ([section 23.7](https://www.unicode.org/versions/latest/)). Whatever shows
//! a cell or passes it on leaves the marks out.

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
    /// A text, which can have a value in the notation of its column. Every cell without a mark is one.
    Text,
    /// A number with a decimal point, whatever the notation of its column is.
    Number,
    /// A cell that has no usable value for this reason, such as `#N/A`.
    Error(&'a str),
}

impl<'a> CellKind<'a> {
    /// Returns the kind and the text of a cell. A cell that is not UTF-8 has no mark.
    pub fn parse(cell: &'a [u8]) -> (Self, &'a [u8]) {
        if !cell.starts_with(MARK_START) {
            return (Self::Text, cell);
        }
        let Ok(text) = std::str::from_utf8(cell) else { return (Self::Text, cell) };
        if let Some(error) = text.strip_prefix(ERROR_MARK) {
            let (shown, reason) = error.split_once(ERROR_MARK).unwrap_or((error, "the cell has no usable value"));
            return (Self::Error(reason), without_mark(shown).as_bytes());
        }
        let kind = if text.starts_with(NUMBER_MARK) { Self::Number } else { Self::Text };
        (kind, without_mark(text).as_bytes())
    }

    /// Returns the text of a cell of this kind with its marks. A text that begins with a mark loses it, so that no text of
    /// a workbook is taken for another kind.
    pub fn encode(self, text: &str) -> Cow<'_, str> {
        let text = without_mark(text);
        match self {
            Self::Text => text.into(),
            Self::Number => format!("{NUMBER_MARK}{text}").into(),
            Self::Error(reason) => format!("{ERROR_MARK}{}{ERROR_MARK}{reason}", text.replace(ERROR_MARK, "")).into(),
        }
    }
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches([ERROR_MARK, NUMBER_MARK])
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
            let cell = kind.encode(text);
            assert_eq!(CellKind::parse(cell.as_bytes()), (kind, text.as_bytes()), "{cell:?}");
        }
    }

    #[test]
    fn the_text_of_a_cell_never_begins_with_a_mark() {
        for mark in ["\u{fdd0}", "\u{fdd1}", "\u{fdd1}\u{fdd0}"] {
            let text = format!("{mark}x");
            assert_eq!(CellKind::Text.encode(&text), "x");
            for kind in [CellKind::Number, CellKind::Error("why")] {
                assert_eq!(CellKind::parse(kind.encode(&text).as_bytes()), (kind, &b"x"[..]));
            }
        }
        assert_eq!(CellKind::parse("\u{fdd1}\u{fdd1}5".as_bytes()), (CellKind::Number, &b"5"[..]));
        let latin = b"\xef\xb7\x90caf\xe9";
        assert_eq!(CellKind::parse(latin), (CellKind::Text, &latin[..]));
    }
}
