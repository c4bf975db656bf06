//! Numbers: decimal separators, and grouping (thousands) separators.
//!
//! `1.234` is 1234 in German notation, and 1.234 in English notation. The column decides: it is English if some cell is
//! a number only with a decimal point, as `1.5`, `1,234.5` or `1,234,567`.

use serde::{Deserialize, Serialize};

use crate::notation::NotationDetector;

/// The notation of the numbers of a column.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub enum NumberNotation {
    /// A decimal point: `1,234.5`.
    #[serde(rename = ".")]
    DecimalPoint,
    /// A decimal comma: `1.234,5`.
    #[serde(rename = ",")]
    DecimalComma,
}

impl NumberNotation {
    /// Returns a detector for a column of numbers.
    pub(crate) const fn detector() -> NotationDetector<Self, 2> {
        NotationDetector::new([Self::DecimalPoint, Self::DecimalComma], parse_number)
    }

    const fn decimal_separator(self) -> char {
        match self {
            Self::DecimalPoint => '.',
            Self::DecimalComma => ',',
        }
    }

    /// Returns true for a grouping separator: the other of point and comma, a space, or an apostrophe as in
    /// Switzerland.
    const fn is_grouping(self, separator: char) -> bool {
        match separator {
            '.' | ',' => separator != self.decimal_separator(),
            ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}' => true,
            _ => false,
        }
    }
}

/// Returns a number with a decimal point and without grouping, plus sign and surrounding spaces. `None` if the text is
/// no number in this notation.
///
/// Groups have three digits, or two before the last one as in India. All grouping separators of a number are equal. A
/// number with an exponent has no groups. Leading zeros are kept.
pub fn parse_number(text: &str, notation: NumberNotation) -> Option<String> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once(notation.decimal_separator()) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = ungrouped(whole, notation).filter(|_| exponent.is_none() || are_digits(whole))?;
    let is_valid = fraction.is_none_or(are_digits)
        && exponent.is_none_or(is_exponent)
        && (!whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty()));
    is_valid.then(|| {
        let mut number = String::with_capacity(text.len());
        number.push_str(if is_negative { "-" } else { "" });
        number.push_str(if whole.is_empty() { "0" } else { &whole });
        for (sign, part) in [('.', fraction.filter(|fraction| !fraction.is_empty())), ('e', exponent)] {
            if let Some(part) = part {
                number.push(sign);
                number.push_str(part);
            }
        }
        number
    })
}

/// Returns the digits of a whole number without grouping; `None` if it is none.
fn ungrouped(whole: &str, notation: NumberNotation) -> Option<String> {
    if are_digits(whole) {
        return Some(whole.to_owned());
    }
    let separator = whole.chars().find(|c| !c.is_ascii_digit()).filter(|found| notation.is_grouping(*found))?;
    let groups: Vec<&str> = whole.split(separator).collect();
    let [first, middle @ .., last] = &groups[..] else { return None };
    let width = if middle.iter().all(|group| group.len() == 3) { 3 } else { 2 };
    let is_valid = groups.iter().all(|group| are_digits(group))
        && (1..=width).contains(&first.len())
        && !first.starts_with('0')
        && middle.iter().all(|group| group.len() == width)
        && last.len() == 3;
    is_valid.then(|| groups.concat())
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_exponent(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.len() <= 4 && are_digits(digits)
}

#[cfg(test)]
mod tests {
    use super::NumberNotation::{DecimalComma, DecimalPoint};
    use super::{NumberNotation, parse_number};
    use crate::notation::Detection;

    #[test]
    fn a_number_is_read_in_each_notation() {
        let rules: [(&str, Option<&str>, Option<&str>); 34] = [
            ("42", Some("42"), Some("42")),
            ("007", Some("007"), Some("007")),
            (" +1 ", Some("1"), Some("1")),
            ("-1.5", Some("-1.5"), None),
            ("\u{2212}1,5", None, Some("-1.5")),
            ("1.234", Some("1.234"), Some("1234")),
            ("1,234", Some("1234"), Some("1.234")),
            ("1.234,56", None, Some("1234.56")),
            ("1,234.56", Some("1234.56"), None),
            ("1.234.567", None, Some("1234567")),
            ("1,234,567", Some("1234567"), None),
            ("12,34,567.8", Some("1234567.8"), None),
            ("1 234,5", None, Some("1234.5")),
            ("1\u{a0}234\u{a0}567", Some("1234567"), Some("1234567")),
            ("1\u{202f}234,5", None, Some("1234.5")),
            ("1'234.50", Some("1234.50"), None),
            ("1\u{2019}234,50", None, Some("1234.50")),
            (".5", Some("0.5"), None),
            (",5", None, Some("0.5")),
            ("5.", Some("5"), None),
            ("1e3", Some("1e3"), Some("1e3")),
            ("1,5E-3", None, Some("1.5e-3")),
            ("0,123", None, Some("0.123")),
            ("0.123", Some("0.123"), None),
            ("1234,567", None, Some("1234.567")),
            ("1.23", Some("1.23"), None),
            ("1.234,567.8", None, None),
            ("1 234.567 890", None, None),
            ("1,2345", None, Some("1.2345")),
            ("1,234e3", None, Some("1.234e3")),
            ("", None, None),
            ("-", None, None),
            (".", None, None),
            ("12 %", None, None),
        ];
        for (text, point, comma) in rules {
            assert_eq!(parse_number(text, DecimalPoint).as_deref(), point, "{text:?} with a point");
            assert_eq!(parse_number(text, DecimalComma).as_deref(), comma, "{text:?} with a comma");
        }
    }

    fn detect(cells: &[&str]) -> Detection<NumberNotation> {
        let mut detector = NumberNotation::detector();
        cells.iter().for_each(|cell| detector.observe(cell));
        detector.detect()
    }

    #[test]
    fn a_notation_is_stored_as_its_decimal_separator() {
        for (notation, stored) in [(DecimalPoint, "."), (DecimalComma, ",")] {
            assert_eq!(serde_json::to_value(notation).unwrap(), stored);
            assert_eq!(serde_json::from_value::<NumberNotation>(stored.into()).unwrap(), notation);
        }
    }

    #[test]
    fn a_column_decides_and_not_a_cell() {
        assert_eq!(detect(&["1.234", "5,5"]), Detection::Found(DecimalComma));
        assert_eq!(detect(&["1.234", "0.5", "n/a"]), Detection::Found(DecimalPoint));
        assert_eq!(detect(&["1", "20", "300"]), Detection::Irrelevant);
        assert_eq!(detect(&[]), Detection::Irrelevant);
    }

    #[test]
    fn a_column_that_fits_both_notations_is_ambiguous() {
        let readings = [(DecimalPoint, "1.234".to_owned()), (DecimalComma, "1234".to_owned())];
        assert_eq!(detect(&["7", "1.234", "9,876"]), Detection::Ambiguous { cell: "1.234".into(), readings });
    }

    #[test]
    fn a_column_that_fits_neither_notation_is_conflicting() {
        let cells = ["1,5".to_owned(), "1.5".to_owned()];
        assert_eq!(detect(&["1.5", "1,5"]), Detection::Conflicting { cells });
    }
}
