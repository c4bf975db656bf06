//! Detection of a column's type.

use crate::booleans::parse_boolean;
use crate::dates::{DateNotation, DateOrder};
use crate::notation::{Detection, NotationDetector};
use crate::numbers::NumberNotation;

/// The share of the filled cells, in percent, that must have a type so that the column has it. The others are errors of
/// their rows, such as `n/a`.
const TYPED_PERCENT: usize = 90;

/// A pivot year, only to recognize years of two digits.
pub(crate) const ANY_PIVOT_YEAR: Option<u16> = Some(1950);

/// The type of a column, with the notation of its values.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ColumnType {
    /// No cell is filled.
    Blank,
    /// Words for true and for false, both of which occur. Single letters and digits are no words.
    Boolean,
    /// Numbers.
    Number(Detection<NumberNotation>),
    /// Dates, of which some can have times.
    Date {
        /// The order of day, month and year.
        order: Detection<DateOrder>,
        /// True if years have two digits, so that a pivot year must be given.
        needs_pivot_year: bool,
    },
    /// Other text. So are numbers that would lose characters: with leading zeros, a plus sign, or as `12E5`.
    Text,
}

/// Takes the cells of a column, one after another.
#[derive(Clone, Debug)]
pub struct ColumnTypeDetector {
    filled: usize,
    true_words: usize,
    false_words: usize,
    /// True if a number would lose characters of some cell.
    loses_characters: bool,
    numbers: NotationDetector<NumberNotation, 2>,
    dates: NotationDetector<DateNotation, 3>,
    dates_with_pivot_year: NotationDetector<DateNotation, 3>,
}

impl Default for ColumnTypeDetector {
    fn default() -> Self {
        Self {
            filled: 0,
            true_words: 0,
            false_words: 0,
            loses_characters: false,
            numbers: NumberNotation::detector(),
            dates: DateNotation::detector(None),
            dates_with_pivot_year: DateNotation::detector(ANY_PIVOT_YEAR),
        }
    }
}

impl ColumnTypeDetector {
    /// Takes a cell.
    pub fn observe(&mut self, cell: &str) {
        let text = cell.trim();
        if text.is_empty() {
            return;
        }
        self.filled += 1;
        match parse_boolean(text).filter(|_| text.len() > 1) {
            Some(true) => self.true_words += 1,
            Some(false) => self.false_words += 1,
            None => {}
        }
        self.loses_characters |= would_lose_characters(text);
        self.numbers.observe(text);
        self.dates.observe(text);
        self.dates_with_pivot_year.observe(text);
    }

    /// Returns the type.
    pub fn column_type(&self) -> ColumnType {
        if self.filled == 0 {
            return ColumnType::Blank;
        }
        let is_typed = |cells: usize| cells * 100 >= self.filled * TYPED_PERCENT;
        let date = |detector: &NotationDetector<DateNotation, 3>, needs_pivot_year| ColumnType::Date {
            order: detector.detect().map(|notation| notation.order),
            needs_pivot_year,
        };
        if self.true_words.min(self.false_words) > 0 && is_typed(self.true_words + self.false_words) {
            ColumnType::Boolean
        } else if is_typed(self.dates.fitting()) {
            date(&self.dates, false)
        } else if is_typed(self.dates_with_pivot_year.fitting()) {
            date(&self.dates_with_pivot_year, true)
        } else if is_typed(self.numbers.fitting()) && !self.loses_characters {
            ColumnType::Number(self.numbers.detect())
        } else {
            ColumnType::Text
        }
    }
}

/// Returns true for `007`, for `+48 601 234 567`, and for `12E5`, which is rather the number of a part.
fn would_lose_characters(text: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = text.len() > 1 && text.starts_with('0') && is_digits(text);
    let is_exponent = text.split_once(['e', 'E']).is_some_and(|(before, after)| is_digits(before) && is_digits(after));
    has_leading_zero || text.starts_with('+') || is_exponent
}

/// Returns true if every filled cell of a row is a number or a date: a header has names.
pub(crate) fn looks_like_data<'a>(row: impl IntoIterator<Item = &'a str>) -> bool {
    let is_typed = |cell: &str| {
        let mut detector = ColumnTypeDetector::default();
        detector.observe(cell);
        detector.numbers.fitting() + detector.dates_with_pivot_year.fitting() > 0
    };
    let mut filled = row.into_iter().filter(|cell| !cell.trim().is_empty()).peekable();
    filled.peek().is_some() && filled.all(is_typed)
}

#[cfg(test)]
mod tests {
    use super::{ColumnType, ColumnTypeDetector, looks_like_data};
    use crate::dates::DateOrder;
    use crate::notation::Detection;
    use crate::numbers::NumberNotation;

    fn column_type(cells: &[&str]) -> ColumnType {
        let mut detector = ColumnTypeDetector::default();
        cells.iter().for_each(|cell| detector.observe(cell));
        detector.column_type()
    }

    fn date(order: Detection<DateOrder>, needs_pivot_year: bool) -> ColumnType {
        ColumnType::Date { order, needs_pivot_year }
    }

    const COMMA: ColumnType = ColumnType::Number(Detection::Found(NumberNotation::DecimalComma));

    #[test]
    fn a_column_has_the_type_of_its_cells() {
        for (cells, expected) in [
            (vec![], ColumnType::Blank),
            (vec!["", " "], ColumnType::Blank),
            (vec!["Ann", "Bob"], ColumnType::Text),
            (vec!["ja", "", "nein"], ColumnType::Boolean),
            (vec!["ja", "ja"], ColumnType::Text),
            (vec!["N", "S", "N"], ColumnType::Text),
            (vec!["0", "1", "1"], ColumnType::Number(Detection::Irrelevant)),
            (vec!["007", "12"], ColumnType::Text),
            (vec!["+48 601 234 567", "+48 601 234 568"], ColumnType::Text),
            (vec!["12E5", "1e10"], ColumnType::Text),
            (vec!["1.5E3", "2E-7"], ColumnType::Number(Detection::Found(NumberNotation::DecimalPoint))),
            (vec!["1.234,50", "7"], COMMA),
            (vec!["13.2.2024", "1.2.2024 10:00"], date(Detection::Found(DateOrder::Dmy), false)),
            (vec!["13.2.99", "1.2.24"], date(Detection::Found(DateOrder::Dmy), true)),
            (vec!["2024-02-01"], date(Detection::Irrelevant, false)),
            (vec!["+49 30 1234567", "Ann"], ColumnType::Text),
        ] {
            assert_eq!(column_type(&cells), expected, "{cells:?}");
        }
    }

    #[test]
    fn few_wrong_cells_do_not_change_the_type() {
        let mut cells = vec!["1,5"; 9];
        cells.push("n/a");
        assert_eq!(column_type(&cells), COMMA);
        cells.push("n/a");
        assert_eq!(column_type(&cells), ColumnType::Text);
    }

    #[test]
    fn a_row_of_numbers_and_dates_is_no_header() {
        for (row, expected) in [
            (vec!["1", "2,5", "1.2.2024"], true),
            (vec!["1", ""], true),
            (vec!["id", "2024"], false),
            (vec!["", ""], false),
        ] {
            assert_eq!(looks_like_data(row.iter().copied()), expected, "{row:?}");
        }
    }
}
