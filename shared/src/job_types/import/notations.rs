//! Decides the notations of the numbers and dates of a file from its first rows.
//!
//! A column has one notation, and no cell is read by itself. Two notations that both fit are a question to the client,
//! asked before the first row is processed. A notation that the options give is not looked for.

use std::collections::BTreeMap;

use longshore_domain::job::JobError;
use longshore_domain::text::{listed, quoted};
use longshore_tabular::{DateOrder, DetectedDates, Detection, NumberNotation, detect_dates, detect_numbers};

use super::conversion::Conversion;
use super::formats::Formats;
use super::mode::Mode;
use super::options::ImportOptions;
use super::sheet::unescaped;

/// Decides the notations of the columns with these properties that the options leave open, by property.
///
/// # Errors
/// `ambiguous_column`, `conflicting_column`, `pivot_year_missing`.
pub(super) fn decide(
    options: &ImportOptions,
    header: &[String],
    properties: &[Option<String>],
    rows: &[Vec<String>],
) -> Result<BTreeMap<String, Formats>, JobError> {
    let mut decided = BTreeMap::new();
    for (at, (name, property)) in header.iter().zip(properties).enumerate() {
        // A delete reads the key only.
        let Some(property) = property.as_ref().filter(|property| reads(options, property)) else { continue };
        let conversion = Conversion::new(options, property);
        let cells: Vec<String> = rows.iter().filter_map(|row| cell(options, &conversion, row.get(at)?)).collect();
        let column = Column { name, property, cells };
        let found =
            Formats { numbers: column.numbers(&conversion)?, dates: column.dates(&conversion)?, pivot_year: None };
        if found != Formats::default() {
            decided.insert(property.clone(), found);
        }
    }
    Ok(decided)
}

fn reads(options: &ImportOptions, property: &str) -> bool {
    options.mode != Mode::Delete || property == options.key
}

/// Returns the text of a cell, unless the options give its value.
fn cell(options: &ImportOptions, conversion: &Conversion, cell: &str) -> Option<String> {
    let cell = unescaped(options.formulas, cell.as_bytes());
    let cell = String::from_utf8_lossy(&cell);
    (!conversion.has_value_of(&cell)).then(|| cell.into_owned())
}

/// A column of the first rows.
struct Column<'a> {
    name: &'a str,
    property: &'a str,
    cells: Vec<String>,
}

impl Column<'_> {
    /// Returns the notation of the numbers, if it was open and the cells show it.
    fn numbers(&self, conversion: &Conversion) -> Result<Option<NumberNotation>, JobError> {
        if !conversion.kind().has_numbers() || conversion.formats().numbers.is_some() {
            return Ok(None);
        }
        self.found(detect_numbers(self.cells()), "numbers")
    }

    /// Returns the order of the dates, if it was open and the cells show it.
    fn dates(&self, conversion: &Conversion) -> Result<Option<DateOrder>, JobError> {
        let formats = conversion.formats();
        if !conversion.kind().date {
            return Ok(None);
        }
        let DetectedDates { order, two_digit_year } = detect_dates(self.cells(), formats.pivot_year);
        if let Some(cell) = two_digit_year {
            return Err(self.pivot_year_missing(&cell));
        }
        if formats.dates.is_some() { Ok(None) } else { self.found(order, "dates") }
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(String::as_str)
    }

    fn found<N: serde::Serialize>(&self, detected: Detection<N>, option: &str) -> Result<Option<N>, JobError> {
        match detected {
            Detection::Irrelevant => Ok(None),
            Detection::Found(notation) => Ok(Some(notation)),
            Detection::Ambiguous { cell, readings: [(first, value), (second, other)] } => {
                let [first, second] = [first, second].map(|notation| self.example(option, &notation));
                let (name, cell) = (quoted(self.name), quoted(&cell));
                let message = format!(
                    "the {option} of the column {name} can be read in two ways: {cell} is {value} with {first}, and \
                     {other} with {second}; give one of these in the options"
                );
                Err(JobError::new("ambiguous_column", message))
            }
            Detection::Conflicting { cells: [first, second] } => {
                let (name, first, second) = (quoted(self.name), quoted(&first), quoted(&second));
                let message = format!(
                    "the {option} of the column {name} have no common notation: {first} and {second}; fix the file, or \
                     give the option {option}, and the rows that do not fit will fail"
                );
                Err(JobError::new("conflicting_column", message))
            }
        }
    }

    /// Returns the option that gives a notation for this column.
    fn example(&self, option: &str, notation: &impl serde::Serialize) -> String {
        serde_json::json!({ "formats": { self.property: { option: notation } } }).to_string()
    }

    fn pivot_year_missing(&self, cell: &str) -> JobError {
        let message = format!(
            "the column {} has years of two digits, as in {}; give the option pivotYear, the first of the hundred years \
             they are in: with 1950, 49 is 2049 and 50 is 1950",
            quoted(self.name),
            quoted(cell)
        );
        JobError::new("pivot_year_missing", message)
    }
}

/// Returns the notice of what was decided. A decimal point is what everybody expects.
pub(super) fn notice(decided: &BTreeMap<String, Formats>) -> Option<JobError> {
    let properties = |is_so: &dyn Fn(&Formats) -> bool| {
        let names: Vec<_> = decided.iter().filter(|(_, found)| is_so(found)).map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| listed(names))
    };
    let date = |order, text: &str| {
        properties(&|found| found.dates == Some(order)).map(|names| format!("dates as {text}: {names}"))
    };
    let found = [
        properties(&|found| found.numbers == Some(NumberNotation::DecimalComma))
            .map(|names| format!("numbers with a decimal comma: {names}")),
        date(DateOrder::Dmy, "day, month, year"),
        date(DateOrder::Mdy, "month, day, year"),
        date(DateOrder::Ymd, "year, month, day"),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let message = || format!("the first rows decide these notations: {}", found.join("; "));
    (!found.is_empty()).then(|| JobError::new("notations_found", message()))
}

#[cfg(test)]
#[path = "notations_tests.rs"]
mod tests;
