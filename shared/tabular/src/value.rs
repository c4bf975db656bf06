//! Values of the cells of a column whose type is known, and whose notation may not be decided.

use crate::column::ANY_PIVOT_YEAR;
use crate::dates::{DateNotation, DateOrder, parse_date};
use crate::notation::Detection;
use crate::numbers::{NumberNotation, parse_number};

/// The reason why a cell has no value.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum CellError {
    /// The text is no value of the type.
    NoValue,
    /// The text is one of these numbers, and no notation is decided.
    UndecidedNumber([String; 2]),
    /// The text is one of these dates, and no order is decided.
    UndecidedDate([String; 2]),
    /// The year has two digits, and no pivot year is given.
    TwoDigitYear,
}

/// The notation of the dates of a column.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct DetectedDates {
    /// The order of day, month and year.
    pub order: Detection<DateOrder>,
    /// A cell whose year has two digits, if no pivot year is given.
    pub two_digit_year: Option<String>,
}

/// Detects the notation of a column of numbers. Cells that are no numbers are ignored.
pub fn detect_numbers<'a>(cells: impl IntoIterator<Item = &'a str>) -> Detection<NumberNotation> {
    let mut detector = NumberNotation::detector();
    cells.into_iter().for_each(|cell| detector.observe(cell.trim()));
    detector.detect()
}

/// Detects the notation of a column of dates. Cells that are no dates are ignored.
pub fn detect_dates<'a>(cells: impl IntoIterator<Item = &'a str>, pivot_year: Option<u16>) -> DetectedDates {
    let mut detector = DateNotation::detector(pivot_year.or(ANY_PIVOT_YEAR));
    let mut two_digit_year = None;
    for cell in cells {
        let cell = cell.trim();
        detector.observe(cell);
        if two_digit_year.is_none() && read_date(cell, None, pivot_year) == Err(CellError::TwoDigitYear) {
            two_digit_year = Some(cell.to_owned());
        }
    }
    DetectedDates { order: detector.detect().map(|notation| notation.order), two_digit_year }
}

/// Returns a number as [`parse_number`] does. Without a notation, it must have the same value in each that it fits.
///
/// # Errors
/// [`CellError::NoValue`], [`CellError::UndecidedNumber`].
pub fn read_number(text: &str, notation: Option<NumberNotation>) -> Result<String, CellError> {
    let notations: &[_] = match &notation {
        Some(notation) => std::slice::from_ref(notation),
        None => &[NumberNotation::DecimalPoint, NumberNotation::DecimalComma],
    };
    only(notations.iter().filter_map(|notation| parse_number(text, *notation)), CellError::UndecidedNumber)
}

/// Returns a date as [`parse_date`] does. Without an order, it must be the same date in each that it fits.
///
/// # Errors
/// [`CellError::NoValue`], [`CellError::UndecidedDate`], [`CellError::TwoDigitYear`].
pub fn read_date(text: &str, order: Option<DateOrder>, pivot_year: Option<u16>) -> Result<String, CellError> {
    let orders: &[_] = match &order {
        Some(order) => std::slice::from_ref(order),
        None => &[DateOrder::Dmy, DateOrder::Mdy, DateOrder::Ymd],
    };
    let dates = |pivot_year| {
        orders.iter().filter_map(move |order| parse_date(text, DateNotation { order: *order, pivot_year }))
    };
    match only(dates(pivot_year), CellError::UndecidedDate) {
        Err(CellError::NoValue) if pivot_year.is_none() && dates(ANY_PIVOT_YEAR).next().is_some() => {
            Err(CellError::TwoDigitYear)
        }
        read => read,
    }
}

/// Returns the value if there is one, and no other.
fn only(
    mut values: impl Iterator<Item = String>,
    undecided: fn([String; 2]) -> CellError,
) -> Result<String, CellError> {
    let first = values.next().ok_or(CellError::NoValue)?;
    match values.find(|value| *value != first) {
        None => Ok(first),
        Some(other) => Err(undecided([first, other])),
    }
}

#[cfg(test)]
mod tests {
    use super::CellError::{NoValue, TwoDigitYear, UndecidedDate, UndecidedNumber};
    use super::*;

    fn both(first: &str, second: &str) -> [String; 2] {
        [first.to_owned(), second.to_owned()]
    }

    #[test]
    fn a_number_without_a_notation_has_one_value_or_none() {
        let comma = Some(NumberNotation::DecimalComma);
        for (text, notation, expected) in [
            ("1.234", comma, Ok("1234".to_owned())),
            ("1.5", comma, Err(NoValue)),
            ("1,5", None, Ok("1.5".to_owned())),
            ("12", None, Ok("12".to_owned())),
            ("1.234", None, Err(UndecidedNumber(both("1.234", "1234")))),
            ("n/a", None, Err(NoValue)),
        ] {
            assert_eq!(read_number(text, notation), expected, "{text} {notation:?}");
        }
    }

    #[test]
    fn a_date_without_an_order_is_one_date_or_none() {
        for (text, order, pivot_year, expected) in [
            ("1/2/2024", Some(DateOrder::Dmy), None, Ok("2024-02-01".to_owned())),
            ("13/2/2024", Some(DateOrder::Mdy), None, Err(NoValue)),
            ("13/2/2024", None, None, Ok("2024-02-13".to_owned())),
            ("2/2/2024", None, None, Ok("2024-02-02".to_owned())),
            ("1/2/2024", None, None, Err(UndecidedDate(both("2024-02-01", "2024-01-02")))),
            ("1/2/99", Some(DateOrder::Dmy), None, Err(TwoDigitYear)),
            ("1/2/99", Some(DateOrder::Dmy), Some(1950), Ok("1999-02-01".to_owned())),
            ("2024-02-01T10:00:00Z", None, None, Ok("2024-02-01T10:00:00Z".to_owned())),
            ("soon", None, None, Err(NoValue)),
        ] {
            assert_eq!(read_date(text, order, pivot_year), expected, "{text} {order:?} {pivot_year:?}");
        }
    }

    #[test]
    fn a_column_shows_its_notation() {
        assert_eq!(detect_numbers(["n/a", " 1,5 ", "2.345"]), Detection::Found(NumberNotation::DecimalComma));
        assert_eq!(detect_numbers(["1", "2"]), Detection::Irrelevant);
        assert!(matches!(detect_numbers(["1.234"]), Detection::Ambiguous { .. }));
        assert!(matches!(detect_numbers(["1.5", "1,5"]), Detection::Conflicting { .. }));
        let dates = detect_dates(["13.2.24", "1.2.2024", "soon"], None);
        assert_eq!(
            dates,
            DetectedDates { order: Detection::Found(DateOrder::Dmy), two_digit_year: Some("13.2.24".to_owned()) }
        );
        assert_eq!(detect_dates(["13.2.2024"], None).two_digit_year, None);
        assert_eq!(detect_dates(["13.2.24"], Some(1950)).two_digit_year, None);
    }
}
