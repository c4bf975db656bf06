//! The value of a cell as text, independent of the language of the program that shows it.

use std::ops::Deref;

use time::Date;

use crate::styles::NumberFormat;

/// The content of a cell, or the reason why it has no usable value.
pub type CellValue = Result<CellContent, CellError>;

/// The content of a cell as text; empty for an empty cell.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum CellContent {
    /// A text, a boolean, a date, a time or a duration.
    Text(String),
    /// A number as a decimal, with a point before its fraction.
    Number(String),
}

impl CellContent {
    /// Returns the text.
    pub fn into_text(self) -> String {
        let (Self::Text(text) | Self::Number(text)) = self;
        text
    }
}

impl Default for CellContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Deref for CellContent {
    type Target = str;

    fn deref(&self) -> &str {
        let (Self::Text(text) | Self::Number(text)) = self;
        text
    }
}

/// The reason why a cell has no usable value.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum CellError {
    /// The cell shows an error, such as `#N/A`.
    #[error("the cell shows {0}; correct its formula or its value")]
    Formula(String),
    /// The cell has a formula without a stored result.
    #[error("the formula has no stored result; open the workbook in Excel or LibreOffice, and save it")]
    FormulaWithoutResult,
    /// The date does not exist.
    #[error("the cell has a date that does not exist: before 1900, after 9999, or 29 February 1900")]
    NoSuchDate,
    /// The number is none, or is infinite.
    #[error("the cell has no finite number")]
    NotANumber,
}

impl CellError {
    /// Returns the error that the cell shows, such as `#N/A`; that of a wrong value for other reasons. It is not empty, so
    /// that a person can empty the cell.
    pub fn shown(&self) -> &str {
        if let Self::Formula(shown) = self { shown } else { "#VALUE!" }
    }
}

/// The date system of a workbook: the day from which it counts.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum DateSystem {
    /// From 1900, with a 29 February 1900 that did not exist (the leap year bug of Lotus 1-2-3).
    From1900,
    /// From 1904, as old versions of Excel for Macintosh do.
    From1904,
}

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// The day of serial number 0 in the system from 1904, as a Julian day.
const DAY_0_OF_1904: i64 = 2_416_481;

/// The day of serial number 0 in the system from 1900, up to the day that did not exist.
const DAY_0_OF_1900: i64 = 2_415_020;

/// The serial number of 29 February 1900.
const FALSE_LEAP_DAY: i64 = 60;

/// The last day of the year 9999, as a Julian day.
const LAST_DAY: i64 = 5_373_484;

impl DateSystem {
    /// Returns the Julian day of a serial number; `None` if there is no such day.
    fn julian_day(self, serial: i64) -> Option<i64> {
        let day = match self {
            Self::From1904 => DAY_0_OF_1904 + serial,
            Self::From1900 if serial < FALSE_LEAP_DAY => DAY_0_OF_1900 + serial,
            Self::From1900 if serial == FALSE_LEAP_DAY => return None,
            Self::From1900 => DAY_0_OF_1900 - 1 + serial,
        };
        (day <= LAST_DAY).then_some(day)
    }
}

/// Returns the value of a cell with a number.
pub(crate) fn number(text: &str, format: NumberFormat, dates: DateSystem) -> CellValue {
    if format == NumberFormat::Number && is_shortest(text) {
        return Ok(CellContent::Number(text.to_owned()));
    }
    let number: f64 = text.trim().parse().map_err(|_| CellError::NotANumber)?;
    if !number.is_finite() {
        return Err(CellError::NotANumber);
    }
    match format {
        // The shortest decimal that is this number. Negative zero is shown without its sign.
        NumberFormat::Number => Ok(CellContent::Number((number + 0.0).to_string())),
        NumberFormat::Date => date_time(number, dates).map(CellContent::Text).ok_or(CellError::NoSuchDate),
        NumberFormat::Duration => duration(number).map(CellContent::Text).ok_or(CellError::NotANumber),
    }
}

/// Maximum number of digits with which every decimal is another number.
const EXACT_DIGITS: usize = f64::DIGITS as usize;

/// Returns true if the text is the shortest decimal of its number: it has few digits, and no sign of zero, exponent or
/// zero that could be left out.
fn is_shortest(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let positive = whole.strip_prefix('-').unwrap_or(whole);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= EXACT_DIGITS
        && are_digits(positive)
        && (positive == "0" || !positive.starts_with('0'))
        && match fraction {
            Some(fraction) => are_digits(fraction) && !fraction.ends_with('0'),
            None => text != "-0",
        }
}

/// Returns a time in milliseconds, rounded as programs show it.
fn milliseconds(days: f64) -> Option<i64> {
    let milliseconds = (days * MILLISECONDS_PER_DAY as f64).round();
    // Larger numbers are no exact milliseconds.
    (milliseconds.abs() < 9e15).then_some(milliseconds as i64)
}

/// Returns a duration as `h:mm:ss`, with as many hours as it has.
fn duration(days: f64) -> Option<String> {
    let total = milliseconds(days)?;
    let (seconds, fraction) = (total.abs() / 1_000, total.abs() % 1_000);
    let sign = if total < 0 { "-" } else { "" };
    let text = format!("{sign}{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(if fraction == 0 { text } else { format!("{text}.{fraction:03}") })
}

/// Returns a date, a date with a time, or a time alone, in ISO 8601 without a zone. A serial number below one is a
/// time.
fn date_time(serial: f64, dates: DateSystem) -> Option<String> {
    let total = milliseconds(serial).filter(|total| *total >= 0)?;
    let (day, rest) = (total / MILLISECONDS_PER_DAY, total % MILLISECONDS_PER_DAY);
    let (seconds, fraction) = (rest / 1_000, rest % 1_000);
    let mut clock = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 {
        clock.push_str(&format!(".{fraction:03}"));
    }
    if day == 0 {
        return Some(clock);
    }
    let date = Date::from_julian_day(i32::try_from(dates.julian_day(day)?).ok()?).ok()?;
    let (year, month, day) = date.to_calendar_date();
    let date = format!("{year:04}-{:02}-{day:02}", u8::from(month));
    Some(if rest == 0 { date } else { format!("{date}T{clock}") })
}

#[cfg(test)]
mod tests {
    use super::{CellError, CellValue, DateSystem, number};
    use crate::styles::NumberFormat;

    fn date(text: &str, dates: DateSystem) -> CellValue {
        number(text, NumberFormat::Date, dates)
    }

    #[test]
    fn each_date_system_has_its_days() {
        for (serial, expected) in [
            ("0.5", "12:00:00"),
            ("1", "1900-01-01"),
            ("59", "1900-02-28"),
            ("59.9999999999", "1900-02-28"),
            ("61", "1900-03-01"),
            ("60.9999999999", "1900-03-01"),
            ("45351", "2024-02-29"),
            ("45351.770833333336", "2024-02-29T18:30:00"),
            ("45351.5000000116", "2024-02-29T12:00:00.001"),
            ("2958465", "9999-12-31"),
        ] {
            let read = date(serial, DateSystem::From1900);
            if serial == "59.9999999999" {
                assert_eq!(read, Err(CellError::NoSuchDate), "it rounds to the day that did not exist");
            } else {
                assert_eq!(read.as_deref(), Ok(expected), "{serial}");
            }
        }
        for (serial, expected) in [("0.25", "06:00:00"), ("60", "1904-03-01"), ("2957003", "9999-12-31")] {
            assert_eq!(date(serial, DateSystem::From1904).as_deref(), Ok(expected));
        }
        for (serial, dates) in [
            ("-0.5", DateSystem::From1900),
            ("60", DateSystem::From1900),
            ("60.9", DateSystem::From1900),
            ("2958466", DateSystem::From1900),
            ("1e300", DateSystem::From1900),
            ("2957004", DateSystem::From1904),
        ] {
            assert_eq!(date(serial, dates), Err(CellError::NoSuchDate), "{serial}");
        }
    }

    #[test]
    fn a_number_is_the_shortest_decimal() {
        for (text, expected) in [
            ("42", "42"),
            ("0.1", "0.1"),
            ("1E+21", "1000000000000000000000"),
            ("-0", "0"),
            ("1234567890123456", "1234567890123456"),
            ("1E-07", "0.0000001"),
            (" 5 ", "5"),
        ] {
            assert_eq!(number(text, NumberFormat::Number, DateSystem::From1900).as_deref(), Ok(expected), "{text:?}");
        }
        for text in ["NaN", "inf", "1e400", "", "abc"] {
            assert_eq!(
                number(text, NumberFormat::Number, DateSystem::From1900),
                Err(CellError::NotANumber),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_duration_has_any_number_of_hours() {
        for (text, expected) in [
            ("1.5", "36:00:00"),
            ("26.25", "630:00:00"),
            ("-0.5", "-12:00:00"),
            ("0.0000116", "0:00:01.002"),
            ("0", "0:00:00"),
        ] {
            let read = number(text, NumberFormat::Duration, DateSystem::From1900);
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(number("1e300", NumberFormat::Duration, DateSystem::From1900), Err(CellError::NotANumber));
    }
}
