//! Prevents CSV injection (CWE-1236) by neutralising the cells of a report, and restores the original text.
//!
//! A text that begins with `=`, `+`, `-`, `@` or their full-width forms gets a leading apostrophe, which spreadsheets
//! read as "this is text". White space and quotes before the sign do not prevent that. A plain number such as `-5.2`
//! or `+3e4` is not a formula and stays unchanged. A text that looks as if it had already been neutralised gets one
//! more apostrophe, so that no two cells become equal.
//!
//! A spreadsheet with another separator than that of the file, or without quotes, can split a cell after a comma, a
//! semicolon, a tab or a line end. So each text between them is neutralised by itself. A comma within a cell of a file
//! with commas is quoted, and splits nothing. A cell that begins with a tab or a line end always
//! gets an apostrophe. These are the rules of <https://owasp.org/www-community/attacks/CSV_Injection>.

use std::borrow::Cow;

/// Returns true for bytes after which some spreadsheet starts another cell.
fn is_separator(byte: u8, delimiter: u8) -> bool {
    matches!(byte, b';' | b'\t' | b'\r' | b'\n') || (byte == b',' && delimiter != b',')
}

/// Returns the neutralised form of a cell of a file with this delimiter.
pub fn harmless(cell: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    // A single text that begins like this is no formula.
    let begins_plainly = cell.first().is_none_or(u8::is_ascii_alphanumeric);
    let is_plain = begins_plainly && !cell.iter().any(|byte| is_separator(*byte, delimiter));
    if is_plain || !texts(cell, delimiter).any(|text| text.needs_apostrophe()) {
        return Cow::Borrowed(cell);
    }
    let mut shown = Vec::with_capacity(cell.len() + 4);
    for text in texts(cell, delimiter) {
        shown.extend(text.needs_apostrophe().then_some(b'\''));
        shown.extend_from_slice(text.bytes);
        shown.extend(text.separator);
    }
    Cow::Owned(shown)
}

/// Returns the original of a neutralised cell of a file with this delimiter.
pub fn original(shown: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    if !texts(shown, delimiter).any(|text| text.without_apostrophe().is_some()) {
        return Cow::Borrowed(shown);
    }
    let mut cell = Vec::with_capacity(shown.len());
    for text in texts(shown, delimiter) {
        cell.extend_from_slice(text.without_apostrophe().unwrap_or(text.bytes));
        cell.extend(text.separator);
    }
    Cow::Owned(cell)
}

/// A part of a cell that some spreadsheet could interpret as a cell.
#[derive(Copy, Clone)]
struct Text<'a> {
    bytes: &'a [u8],
    separator: Option<u8>,
    is_first: bool,
}

fn texts(cell: &[u8], delimiter: u8) -> impl Iterator<Item = Text<'_>> {
    cell.split_inclusive(move |byte| is_separator(*byte, delimiter)).enumerate().map(move |(at, text)| {
        let separator = text.last().copied().filter(|byte| is_separator(*byte, delimiter));
        let bytes = &text[..text.len() - usize::from(separator.is_some())];
        Text { bytes, separator, is_first: at == 0 }
    })
}

impl<'a> Text<'a> {
    fn needs_apostrophe(self) -> bool {
        let apostrophes = self.bytes.iter().take_while(|byte| **byte == b'\'').count();
        let text = &self.bytes[apostrophes..];
        let opens_with_control = self.is_first && self.separator.is_some_and(|byte| !matches!(byte, b';' | b','));
        (is_formula(text) && !self.is_number(text)) || (text.is_empty() && opens_with_control)
    }

    /// Returns true if every spreadsheet reads the text as a number, including one that does not split the cell.
    fn is_number(self, text: &[u8]) -> bool {
        let begins_a_longer_cell = self.is_first && self.separator.is_some();
        !begins_a_longer_cell && is_number(text)
    }

    fn without_apostrophe(self) -> Option<&'a [u8]> {
        self.bytes.strip_prefix(b"'").filter(|bytes| Self { bytes, ..self }.needs_apostrophe())
    }
}

/// Returns true if a text begins like a formula. Numbers can begin so, too.
fn is_formula(text: &[u8]) -> bool {
    if text.first().is_none_or(u8::is_ascii_alphanumeric) {
        return false;
    }
    let readable = text.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    readable.trim_start_matches(is_ignored).starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Returns true for characters that are invisible, or that a spreadsheet interprets as a quote.
fn is_ignored(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// Returns true if a text is a decimal number: sign, digits with at most one point, exponent.
fn is_number(text: &[u8]) -> bool {
    let mut parts = unsigned(text).splitn(2, |b| matches!(b, b'e' | b'E'));
    let (mantissa, exponent) = (parts.next().unwrap_or_default(), parts.next());
    let mut digits = mantissa.splitn(2, |b| *b == b'.');
    let (whole, fraction) = (digits.next().unwrap_or_default(), digits.next().unwrap_or_default());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent = exponent.map(unsigned);
    has_digits && are_digits(whole) && are_digits(fraction) && exponent.is_none_or(|e| !e.is_empty() && are_digits(e))
}

fn unsigned(number: &[u8]) -> &[u8] {
    number.strip_prefix(b"+").or(number.strip_prefix(b"-")).unwrap_or(number)
}

fn are_digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
#[path = "formula_tests.rs"]
mod tests;
