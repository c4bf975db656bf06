//! Values of the cells of a column whose type is known, and whose notation may not be.

use crate::column::ANY_PIVOT_YEAR;
use crate::dates::{DateNotation, DateOrder, parse_date};
use crate::notation::{Detection, NotationDetector};
use crate::numbers::{NumberNotation, parse_number};

/// A cell whose value depends on a notation that is not known.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Ambiguity {
    /// The cell is one of these numbers.
    Number([String; 2]),
    /// The cell is one of these dates.
    Date([String; 2]),
    /// The year has two digits, and there is no pivot year.
    TwoDigitYear,
}

/// The numbers of a column.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Numbers {
    /// Numbers with or without a fraction.
    All,
    /// Integers. If a cell is an integer in one notation and has a fraction in the other, only the first one fits.
    Integers,
}

/// The notation of a column of dates.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct DetectedDates {
    /// The order of day, month and year.
    pub order: Detection<DateOrder>,
    /// A cell whose year has two digits, if there is no pivot year.
    pub two_digit_year: Option<String>,
}

impl Numbers {
    const fn parse(self) -> fn(&str, NumberNotation) -> Option<String> {
        match self {
            Self::All => parse_number,
            Self::Integers => parse_integer,
        }
    }
}

/// Detects the notation of a column of numbers. Ignores cells that are no such numbers.
pub fn detect_numbers<'a>(cells: impl IntoIterator<Item = &'a str>, numbers: Numbers) -> Detection<NumberNotation> {
    let notations = [NumberNotation::DecimalPoint, NumberNotation::DecimalComma];
    let mut detector = NotationDetector::new(notations, numbers.parse());
    cells.into_iter().for_each(|cell| detector.observe(cell.trim()));
    detector.detect()
}

/// Detects the notation of a column of dates. Ignores cells that are no dates, in this order if it is given.
pub fn detect_dates<'a>(
    cells: impl IntoIterator<Item = &'a str>,
    order: Option<DateOrder>,
    pivot_year: Option<u16>,
) -> DetectedDates {
    let mut detector = DateNotation::detector(pivot_year.or(ANY_PIVOT_YEAR));
    let mut two_digit_year = None;
    for cell in cells {
        let cell = cell.trim();
        detector.observe(cell);
        if two_digit_year.is_none() && read_date(cell, order, pivot_year) == Err(Ambiguity::TwoDigitYear) {
            two_digit_year = Some(cell.to_owned());
        }
    }
    DetectedDates { order: detector.detect().map(|notation| notation.order), two_digit_year }
}

/// Returns a number as [`parse_number`] does; `None` if the cell is no such number.
///
/// # Errors
/// If there is no notation, and the cell is a different number in each.
pub fn read_number(
    text: &str,
    numbers: Numbers,
    notation: Option<NumberNotation>,
) -> Result<Option<String>, Ambiguity> {
    let notations: &[_] = match &notation {
        Some(notation) => std::slice::from_ref(notation),
        None => &[NumberNotation::DecimalPoint, NumberNotation::DecimalComma],
    };
    only(notations.iter().filter_map(|notation| numbers.parse()(text, *notation)), Ambiguity::Number)
}

/// Returns a date as [`parse_date`] does; `None` if the cell is no date.
///
/// # Errors
/// If there is no order, and the cell is a different date in each. If there is no pivot year, and the year has two
/// digits.
pub fn read_date(text: &str, order: Option<DateOrder>, pivot_year: Option<u16>) -> Result<Option<String>, Ambiguity> {
    let orders: &[_] = match &order {
        Some(order) => std::slice::from_ref(order),
        // The same date in every order.
        None if begins_with_year(text) => &[DateOrder::Ymd],
        None => &[DateOrder::Dmy, DateOrder::Mdy, DateOrder::Ymd],
    };
    let dates = |pivot_year| {
        orders.iter().filter_map(move |order| parse_date(text, DateNotation { order: *order, pivot_year }))
    };
    match only(dates(pivot_year), Ambiguity::Date) {
        Ok(None) if pivot_year.is_none() && dates(ANY_PIVOT_YEAR).next().is_some() => Err(Ambiguity::TwoDigitYear),
        read => read,
    }
}

/// Returns the number, unless it has a fraction and is an integer in the other notation. A fraction alone is a number:
/// it shows the notation of its column.
fn parse_integer(text: &str, notation: NumberNotation) -> Option<String> {
    let other = match notation {
        NumberNotation::DecimalPoint => NumberNotation::DecimalComma,
        NumberNotation::DecimalComma => NumberNotation::DecimalPoint,
    };
    let number = parse_number(text, notation)?;
    let is_excluded = !is_integral(&number) && parse_number(text, other).is_some_and(|other| is_integral(&other));
    (!is_excluded).then_some(number)
}

/// Returns true for `5` and `5.000`.
fn is_integral(number: &str) -> bool {
    !number.contains('e')
        && number.split_once('.').is_none_or(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'))
}

fn begins_with_year(text: &str) -> bool {
    text.trim_start().bytes().take_while(u8::is_ascii_digit).count() == 4
}

/// Returns the value, if there is one.
fn only(
    mut values: impl Iterator<Item = String>,
    ambiguity: fn([String; 2]) -> Ambiguity,
) -> Result<Option<String>, Ambiguity> {
    let Some(first) = values.next() else { return Ok(None) };
    match values.find(|value| *value != first) {
        None => Ok(Some(first)),
        Some(other) => Err(ambiguity([first, other])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Option<NumberNotation> = Some(NumberNotation::DecimalComma);
    const DMY: Option<DateOrder> = Some(DateOrder::Dmy);

    fn both(first: &str, second: &str) -> [String; 2] {
        [first.to_owned(), second.to_owned()]
    }

    fn some(value: &str) -> Result<Option<String>, Ambiguity> {
        Ok(Some(value.to_owned()))
    }

    #[test]
    fn a_number_without_a_notation_has_one_value_or_none() {
        use Numbers::{All, Integers};
        for (text, numbers, notation, expected) in [
            ("1.234", All, COMMA, some("1234")),
            ("1.5", All, COMMA, Ok(None)),
            ("1,5", All, None, some("1.5")),
            ("12", All, None, some("12")),
            ("1.234", All, None, Err(Ambiguity::Number(both("1.234", "1234")))),
            ("1,234", Integers, None, some("1234")),
            ("1.234", Integers, COMMA, some("1234")),
            ("5.000", Integers, None, Err(Ambiguity::Number(both("5.000", "5000")))),
            ("1.5", Integers, None, some("1.5")),
            ("1e3", Integers, None, some("1e3")),
            ("n/a", All, None, Ok(None)),
        ] {
            assert_eq!(read_number(text, numbers, notation), expected, "{text} {numbers:?} {notation:?}");
        }
    }

    #[test]
    fn a_date_without_an_order_is_one_date_or_none() {
        for (text, order, pivot_year, expected) in [
            ("1/2/2024", DMY, None, some("2024-02-01")),
            ("13/2/2024", Some(DateOrder::Mdy), None, Ok(None)),
            ("13/2/2024", None, None, some("2024-02-13")),
            ("2/2/2024", None, None, some("2024-02-02")),
            ("1/2/2024", None, None, Err(Ambiguity::Date(both("2024-02-01", "2024-01-02")))),
            ("1/2/99", DMY, None, Err(Ambiguity::TwoDigitYear)),
            ("1/2/99", DMY, Some(1950), some("1999-02-01")),
            ("2024-02-01T10:00:00Z", None, None, some("2024-02-01T10:00:00Z")),
            ("soon", None, None, Ok(None)),
        ] {
            assert_eq!(read_date(text, order, pivot_year), expected, "{text} {order:?} {pivot_year:?}");
        }
    }

    #[test]
    fn a_column_shows_its_notation() {
        use Numbers::{All, Integers};
        assert_eq!(detect_numbers(["n/a", " 1,5 ", "2.345"], All), Detection::Found(NumberNotation::DecimalComma));
        assert_eq!(detect_numbers(["1", "2"], All), Detection::Irrelevant);
        assert!(matches!(detect_numbers(["1.234"], All), Detection::Ambiguous { .. }));
        assert_eq!(detect_numbers(["1.234"], Integers), Detection::Found(NumberNotation::DecimalComma));
        assert_eq!(detect_numbers(["1.5", "7"], Integers), Detection::Found(NumberNotation::DecimalPoint));
        assert!(matches!(detect_numbers(["5.000", "12.000"], Integers), Detection::Ambiguous { .. }));
        assert!(matches!(detect_numbers(["1.5", "2.500"], Integers), Detection::Conflicting { .. }));
        assert!(matches!(detect_numbers(["1.5", "1,5"], All), Detection::Conflicting { .. }));
        // One cell of a hundred can be an error.
        let many = |count| detect_numbers(std::iter::repeat_n("1.234", count).chain(["7,5"]), All);
        assert_eq!(many(50), Detection::Found(NumberNotation::DecimalComma));
        assert!(matches!(many(51), Detection::Ambiguous { .. }));
    }

    #[test]
    fn a_column_of_dates_shows_its_order_and_years_of_two_digits() {
        let dates = detect_dates(["13.2.99", "1.2.2024", "soon"], None, None);
        assert_eq!((dates.order, dates.two_digit_year.as_deref()), (Detection::Found(DateOrder::Dmy), Some("13.2.99")));
        assert_eq!(detect_dates(["13.2.2024"], None, None).two_digit_year, None);
        assert_eq!(detect_dates(["13.2.99"], None, Some(1950)).two_digit_year, None);
        assert_eq!(detect_dates(["20.5.6"], DMY, None).two_digit_year, None);
        // The first or the last part can be the year.
        assert!(matches!(detect_dates(["13.2.24"], None, Some(1950)).order, Detection::Ambiguous { .. }));
    }
}
