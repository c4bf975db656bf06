//! Keeps the cells of a report from being taken for formulas (CWE-1236), and gives the original text back.
//!
//! A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an apostrophe before it, which
//! spreadsheets take as "this is text". A plain number such as `-5.2` or `+3e4` is no formula and stays as it is. A cell
//! that looks as if it had been treated so already gets one more, so that no two cells become the same.

use std::borrow::Cow;

/// The cell as a report shows it.
pub fn harmless(cell: &[u8]) -> Cow<'_, [u8]> {
    if needs_apostrophe(cell) { Cow::Owned([b"'", cell].concat()) } else { Cow::Borrowed(cell) }
}

/// The cell that a report shows so.
pub fn original(shown: &[u8]) -> &[u8] {
    shown.strip_prefix(b"'").filter(|cell| needs_apostrophe(cell)).unwrap_or(shown)
}

fn needs_apostrophe(cell: &[u8]) -> bool {
    let apostrophes = cell.iter().take_while(|b| **b == b'\'').count();
    is_formula(&cell[apostrophes..])
}

/// Whether a spreadsheet could take the cell for a formula.
fn is_formula(cell: &[u8]) -> bool {
    matches!(cell.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) && !is_number(cell)
}

/// Whether the cell is nothing but a decimal number: sign, digits with at most one point, exponent.
fn is_number(cell: &[u8]) -> bool {
    let mut parts = unsigned(cell).splitn(2, |b| matches!(b, b'e' | b'E'));
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
mod tests {
    use super::{harmless, is_formula, original};

    /// Every cell of up to six bytes that matter: none is a formula, and each is told from every other.
    #[test]
    fn every_cell_comes_back_and_no_two_look_the_same() {
        let mut cells = vec![Vec::new()];
        for _ in 0..6 {
            let longer =
                cells.iter().flat_map(|cell| b"'=-+\t5.ea".iter().map(move |byte| [&cell[..], &[*byte]].concat()));
            let longer: Vec<_> = longer.collect();
            for cell in &longer {
                let shown = harmless(cell);
                assert!(!is_formula(&shown), "{cell:?}");
                // What comes back as it was cannot look like another that does so, too.
                assert_eq!(original(&shown), cell, "{shown:?}");
            }
            cells = longer;
        }
        assert_eq!(cells.len(), 9_usize.pow(6));
    }

    #[test]
    fn formulas_are_neutralised_and_numbers_are_not_and_all_come_back() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            ("+cmd", "'+cmd"),
            ("-x", "'-x"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\rx", "'\rx"),
            ("-", "'-"),
            ("+", "'+"),
            ("-.", "'-."),
            ("-e5", "'-e5"),
            ("-5e", "'-5e"),
            ("--5", "'--5"),
            ("-1-2", "'-1-2"),
            ("-1.2.3", "'-1.2.3"),
            ("+49 30 1", "'+49 30 1"),
            ("-5.2", "-5.2"),
            ("-.5", "-.5"),
            ("+3e4", "+3e4"),
            ("+3E-4", "+3E-4"),
            ("-5", "-5"),
            ("+4930", "+4930"),
            ("a=b", "a=b"),
            ("", ""),
            ("'", "'"),
            ("'a", "'a"),
            ("'-5", "'-5"),
            ("'=1", "''=1"),
            ("''=1", "'''=1"),
        ] {
            let shown = harmless(cell.as_bytes());
            assert_eq!(String::from_utf8_lossy(&shown), expected, "{cell:?}");
            assert_eq!(original(&shown), cell.as_bytes(), "{expected:?}");
        }
    }
}
