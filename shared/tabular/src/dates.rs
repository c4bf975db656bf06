//! Dates and times: the order of day, month and year, and years of two digits.
//!
//! `1/2/2024` is the first of February or the second of January. The column decides: a cell such as `13/2/2024` fits
//! one order only. A date that begins with four digits, as in ISO 8601, is the same in every order. Years of two digits
//! are read only with a pivot year, which says to which century they belong; such a date can begin with the year.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::notation::NotationDetector;
use crate::times::{number, parse_time};

/// The possible pivot years: all years of their hundred have four digits.
pub const PIVOT_YEARS: RangeInclusive<u16> = 1_000..=9_900;

/// The order of day, month and year in the dates of a column.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
    /// Year, month, day.
    Ymd,
}

/// The notation of the dates of a column.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct DateNotation {
    /// The order of the parts.
    pub order: DateOrder,
    /// First year of the 100-year window for years of two digits, one of [`PIVOT_YEARS`]: with 1950, `49` is 2049 and
    /// `50` is 1950. `None` refuses such years.
    pub pivot_year: Option<u16>,
}

impl DateNotation {
    /// Returns a detector for a column of dates.
    pub(crate) const fn detector(pivot_year: Option<u16>) -> NotationDetector<Self, 3> {
        let notations = [
            Self { order: DateOrder::Dmy, pivot_year },
            Self { order: DateOrder::Mdy, pivot_year },
            Self { order: DateOrder::Ymd, pivot_year },
        ];
        NotationDetector::new(notations, parse_date)
    }
}

/// Returns a date, or a date with a time, in ISO 8601: `2024-02-01`, `2024-02-01T18:30:00`, and with a zone only if the
/// text has one. `None` if the text is none in this notation, or the calendar does not have the day.
///
/// The parts of a date are separated by `-`, `/` or `.`, after which there may be a space. A time has hours and
/// minutes, and may have seconds, a fraction of up to nine digits, and `AM` or `PM`.
pub fn parse_date(text: &str, notation: DateNotation) -> Option<String> {
    let text = text.trim();
    let (date, rest) = parse_day(text, notation)?;
    if rest.is_empty() {
        return Some(date);
    }
    let time = rest.strip_prefix(['T', 't', ' ']).or_else(|| rest.strip_prefix(", "))?.trim_start();
    Some(format!("{date}T{}", parse_time(time)?))
}

/// Parses the date at the beginning of a text. Returns it, and the text after it.
fn parse_day(text: &str, notation: DateNotation) -> Option<(String, &str)> {
    let (first, rest) = number(text, 4)?;
    let separator = rest.chars().next().filter(|separator| matches!(separator, '-' | '/' | '.'))?;
    let (second, rest) = number(after(rest, separator)?, 2)?;
    let (third, rest) = number(after(rest, separator)?, 4)?;
    let (year, month, day) = match (first.len(), third.len(), notation.order) {
        (4, 1 | 2, _) => (first, second, third),
        (1 | 2, 2 | 4, DateOrder::Dmy) => (third, second, first),
        (1 | 2, 2 | 4, DateOrder::Mdy) => (third, first, second),
        (2, 1 | 2, DateOrder::Ymd) => (first, second, third),
        _ => return None,
    };
    let year = match year.len() {
        4 => year.parse().ok()?,
        _ => full_year(year.parse().ok()?, notation.pivot_year?)?,
    };
    let (month, day): (u16, u16) = (month.parse().ok()?, day.parse().ok()?);
    let exists = year >= 1000 && (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    exists.then(|| (format!("{year:04}-{month:02}-{day:02}"), rest))
}

/// Returns the text after a separator and at most one space.
fn after(text: &str, separator: char) -> Option<&str> {
    let text = text.strip_prefix(separator)?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// Returns the year in the window of 100 years that begins at the pivot year; `None` for a pivot year out of range.
fn full_year(year: u16, pivot_year: u16) -> Option<u16> {
    let full = PIVOT_YEARS.contains(&pivot_year).then(|| pivot_year / 100 * 100 + year)?;
    Some(if full < pivot_year { full + 100 } else { full })
}

/// Returns the number of days of a month in the Gregorian calendar.
fn days_in_month(year: u16, month: u16) -> u16 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::DateOrder::{Dmy, Mdy, Ymd};
    use super::{DateNotation, DateOrder, parse_date};
    use crate::notation::Detection;

    fn read(text: &str, order: DateOrder) -> Option<String> {
        parse_date(text, DateNotation { order, pivot_year: None })
    }

    #[test]
    fn a_date_is_read_in_each_order() {
        let rules: [(&str, Option<&str>, Option<&str>); 22] = [
            ("2024-02-01", Some("2024-02-01"), Some("2024-02-01")),
            ("2024/2/1", Some("2024-02-01"), Some("2024-02-01")),
            ("2024.02.01", Some("2024-02-01"), Some("2024-02-01")),
            ("1.2.2024", Some("2024-02-01"), Some("2024-01-02")),
            (" 01/02/2024 ", Some("2024-02-01"), Some("2024-01-02")),
            ("1-2-2024", Some("2024-02-01"), Some("2024-01-02")),
            ("1. 2. 2024", Some("2024-02-01"), Some("2024-01-02")),
            ("13.2.2024", Some("2024-02-13"), None),
            ("2/13/2024", None, Some("2024-02-13")),
            ("29.2.2024", Some("2024-02-29"), None),
            ("29.2.2023", None, None),
            ("29.2.1900", None, None),
            ("29.2.2000", Some("2000-02-29"), None),
            ("31/4/2024", None, None),
            ("0.1.2024", None, None),
            ("1.2.24", None, None),
            ("1.2/2024", None, None),
            ("1.2.202", None, None),
            ("20240201", None, None),
            ("1.2.0999", None, None),
            ("1.2.2024x", None, None),
            ("", None, None),
        ];
        for (text, dmy, mdy) in rules {
            assert_eq!(read(text, Dmy).as_deref(), dmy, "{text:?} as day, month, year");
            assert_eq!(read(text, Mdy).as_deref(), mdy, "{text:?} as month, day, year");
        }
    }

    #[test]
    fn a_time_follows_a_date() {
        for (text, expected) in [
            ("2024-02-01T18:30", Some("2024-02-01T18:30:00")),
            ("2024-02-01 18:30:15.250", Some("2024-02-01T18:30:15.250")),
            ("1.2.2024 8:05", Some("2024-02-01T08:05:00")),
            ("1.2.2024, 08:05:09", Some("2024-02-01T08:05:09")),
            ("1/2/2024 12:00 AM", Some("2024-02-01T00:00:00")),
            ("1/2/2024 12:15pm", Some("2024-02-01T12:15:00")),
            ("1/2/2024 1:15 PM", Some("2024-02-01T13:15:00")),
            ("2024-02-01T18:30:00Z", Some("2024-02-01T18:30:00Z")),
            ("2024-02-01T18:30:00+0130", Some("2024-02-01T18:30:00+01:30")),
            ("2024-02-01 18:30:00 -05:00", Some("2024-02-01T18:30:00-05:00")),
            ("2024-02-01 18:30:00+01", Some("2024-02-01T18:30:00+01:00")),
            ("1/2/2024 13:15 PM", None),
            ("2024-02-01 24:00", None),
            ("2024-02-01 8:5", None),
            ("2024-02-01 8", None),
            ("2024-02-01T18:30+1", None),
            ("2024-02-01T18:30 noon", None),
            ("2024-02-01T18:30+1é", None),
        ] {
            assert_eq!(read(text, Dmy).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn years_of_two_digits_need_a_pivot_year() {
        for (pivot, year, expected) in [
            (1950, "49", Some("2049-02-01")),
            (1950, "50", Some("1950-02-01")),
            (1924, "24", Some("1924-02-01")),
            (1924, "23", Some("2023-02-01")),
            (2000, "99", Some("2099-02-01")),
            (9900, "99", Some("9999-02-01")),
            (9901, "00", None),
            (u16::MAX, "99", None),
            (0, "99", None),
        ] {
            let texts = [(Dmy, format!("1.2.{year}")), (Mdy, format!("2/1/{year}")), (Ymd, format!("{year}-02-1"))];
            for (order, text) in texts {
                let notation = DateNotation { order, pivot_year: Some(pivot) };
                assert_eq!(parse_date(&text, notation).as_deref(), expected, "{text} with {pivot}");
            }
        }
    }

    fn detect(pivot_year: Option<u16>, cells: &[&str]) -> Detection<DateOrder> {
        let mut detector = DateNotation::detector(pivot_year);
        cells.iter().for_each(|cell| detector.observe(cell));
        detector.detect().map(|notation| notation.order)
    }

    #[test]
    fn a_column_decides_and_not_a_cell() {
        assert_eq!(detect(None, &["1/2/2024", "13/2/2024"]), Detection::Found(Dmy));
        assert_eq!(detect(None, &["1/2/2024", "2/13/2024", "unknown"]), Detection::Found(Mdy));
        assert_eq!(detect(None, &["2024-02-01", "3/3/2024"]), Detection::Irrelevant);
        assert_eq!(detect(None, &["2024-02-01", "2024/2/13"]), Detection::Irrelevant);
        let readings = [(Dmy, "2024-02-01".to_owned()), (Mdy, "2024-01-02".to_owned())];
        assert_eq!(detect(None, &["3/3/2024", "1/2/2024"]), Detection::Ambiguous { cell: "1/2/2024".into(), readings });
        let cells = ["1/13/2024".to_owned(), "13/1/2024".to_owned()];
        assert_eq!(detect(None, &["1/13/2024", "13/1/2024"]), Detection::Conflicting { cells });
    }

    /// `24-02-01` need not be the 24th of a month: in Sweden, Hungary, Korea and Japan, the year is first.
    #[test]
    fn a_short_year_can_be_first() {
        let readings = [(Dmy, "2001-02-24".to_owned()), (Ymd, "2024-02-01".to_owned())];
        let ambiguous = Detection::Ambiguous { cell: "24-02-01".into(), readings };
        assert_eq!(detect(Some(1950), &["24-02-01", "24-02-15"]), ambiguous);
        assert_eq!(detect(Some(1950), &["24-02-01", "99-02-15"]), Detection::Found(Ymd));
        assert_eq!(detect(Some(1950), &["24.02.01", "24.02.99"]), Detection::Found(Dmy));
    }

    #[test]
    fn an_order_is_stored_as_three_characters() {
        for (order, stored) in [(Dmy, "dmy"), (Mdy, "mdy"), (Ymd, "ymd")] {
            assert_eq!(serde_json::to_value(order).unwrap(), stored);
            assert_eq!(serde_json::from_value::<DateOrder>(stored.into()).unwrap(), order);
        }
    }
}
