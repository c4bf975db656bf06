//! Detects the notations of the numbers and dates of a file in its first rows.
//!
//! A column has one notation, and all its cells are read in it. If two notations fit, the client is asked before the first
//! row is processed. A notation that the options give is not detected.

use longshore_domain::job::JobError;
use longshore_domain::text::{listed, quoted};
use longshore_tabular::{DateOrder, DetectedDates, Detection, NumberNotation, detect_dates, detect_numbers, read_date};
use serde::Serialize;
use serde_json::json;

use super::conversion::{Conversion, has_time, has_zone};
use super::mode::Mode;
use super::notations::{DetectedNotations, Notations};
use super::options::ImportOptions;
use super::row_reader::original_text;
use crate::handler::FirstCell;

/// Maximum number of columns that the message of an error describes.
const DESCRIBED: usize = 5;

/// Detects the notations that the options leave open, by property.
///
/// # Errors
/// `ambiguous_column`, `conflicting_column`, `pivot_year_missing` or `time_zone_missing` of the first such column. The
/// message describes the others, too.
pub(super) fn detect(
    options: &ImportOptions,
    header: &[String],
    properties: &[Option<String>],
    rows: &[Vec<FirstCell>],
) -> Result<DetectedNotations, JobError> {
    let (mut detected, mut errors) = (DetectedNotations::new(), Vec::new());
    for (at, (name, property)) in header.iter().zip(properties).enumerate() {
        // A delete reads the key only.
        let is_read = |property: &&String| options.mode != Mode::Delete || **property == options.key;
        let Some(property) = property.as_ref().filter(is_read) else { continue };
        let conversion = Conversion::new(options, property);
        let cells = rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_typed);
        let cells = cells.map(|cell| original_text(options.formulas, cell.text.as_bytes()));
        let cells = cells.filter(|cell| !conversion.has_value_of(cell)).map(|cell| cell.into_owned()).collect();
        match (Column { name, property, cells }).notations(&conversion) {
            Ok(notations) if notations == Notations::default() => {}
            Ok(notations) => drop(detected.insert(property.clone(), notations)),
            Err(error) => errors.push(error),
        }
    }
    combined(errors).map_or(Ok(detected), Err)
}

/// Returns one error for those of all columns.
fn combined(errors: Vec<JobError>) -> Option<JobError> {
    let code = &errors.first()?.code;
    let mut message = errors.iter().take(DESCRIBED).map(|error| error.message.as_str()).collect::<Vec<_>>().join("; ");
    if errors.len() > DESCRIBED {
        message.push_str(&format!("; and {} more columns", errors.len() - DESCRIBED));
    }
    Some(JobError::new(code.clone(), message))
}

/// A column of the first rows.
struct Column<'a> {
    name: &'a str,
    property: &'a str,
    /// The cells for which the options have no value.
    cells: Vec<String>,
}

impl Column<'_> {
    fn notations(&self, conversion: &Conversion) -> Result<Notations, JobError> {
        let (decimal_separator, date_order) = (self.decimal_separator(conversion)?, self.date_order(conversion)?);
        self.check_zone(conversion, date_order)?;
        Ok(Notations { decimal_separator, date_order, pivot_year: None })
    }

    fn decimal_separator(&self, conversion: &Conversion) -> Result<Option<NumberNotation>, JobError> {
        match conversion.kind().numbers().filter(|_| conversion.notations().decimal_separator.is_none()) {
            Some(numbers) => self.found(detect_numbers(self.cells(), numbers), "numbers", "decimalSeparator"),
            None => Ok(None),
        }
    }

    fn date_order(&self, conversion: &Conversion) -> Result<Option<DateOrder>, JobError> {
        let given = conversion.notations();
        if !conversion.kind().has_dates() {
            return Ok(None);
        }
        let DetectedDates { order, two_digit_year } = detect_dates(self.cells(), given.date_order, given.pivot_year);
        match two_digit_year {
            Some(cell) => Err(self.pivot_year_missing(&cell)),
            None if given.date_order.is_some() => Ok(None),
            None => self.found(order, "dates", "dateOrder"),
        }
    }

    /// Refuses times without a zone if the options have none.
    fn check_zone(&self, conversion: &Conversion, detected: Option<DateOrder>) -> Result<(), JobError> {
        let Notations { date_order, pivot_year, .. } = conversion.notations();
        let order = date_order.or(detected);
        let is_day = |date: &str| conversion.kind().date && !has_time(date);
        let lacks_zone = |cell: &&str| matches!(read_date(cell, order, pivot_year), Ok(Some(date)) if !has_zone(&date) && !is_day(&date));
        let needs_zone = conversion.kind().date_time && !conversion.has_zone();
        match self.cells().find(lacks_zone).filter(|_| needs_zone) {
            Some(cell) => Err(self.time_zone_missing(cell)),
            None => Ok(()),
        }
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(String::as_str)
    }

    fn found<N: Serialize>(&self, found: Detection<N>, values: &str, option: &str) -> Result<Option<N>, JobError> {
        let name = quoted(self.name);
        let with = |notation: N| json!({ "notations": { self.property: { option: notation } } }).to_string();
        let (code, message) = match found {
            Detection::Irrelevant => return Ok(None),
            Detection::Found(notation) => return Ok(Some(notation)),
            Detection::Ambiguous { cell, readings: [(first, value), (second, other)] } => {
                let (cell, first, second) = (quoted(&cell), with(first), with(second));
                let message = format!(
                    "the {values} of the column {name} can be read in two ways: {cell} is {value} with the options \
                     {first}, and {other} with {second}"
                );
                ("ambiguous_column", message)
            }
            Detection::Conflicting { cells: [first, second] } => {
                let (first, second) = (quoted(&first), quoted(&second));
                let message = format!(
                    "the {values} of the column {name} have no common notation: {first} fits one, and {second} another; \
                     fix the file, or give the option {option}, so that rows in the other notation fail"
                );
                ("conflicting_column", message)
            }
        };
        Err(JobError::new(code, message))
    }

    fn time_zone_missing(&self, cell: &str) -> JobError {
        let message = format!(
            "the column {} has times without a zone, as in {}; give timeZone, the zone whose clock shows them, for example \
             {{\"timeZone\":\"Europe/Berlin\"}}",
            quoted(self.name),
            quoted(cell)
        );
        JobError::new("time_zone_missing", message)
    }

    fn pivot_year_missing(&self, cell: &str) -> JobError {
        let message = format!(
            "the column {} has two-digit years, as in {}; give pivotYear, the first year of the 100-year window that they \
             belong to, and dateOrder, for example {{\"pivotYear\":1950,\"dateOrder\":\"dmy\"}}",
            quoted(self.name),
            quoted(cell)
        );
        JobError::new("pivot_year_missing", message)
    }
}

/// Returns the notice of what was detected. Decimal points are not reported.
pub(super) fn notice(detected: &DetectedNotations) -> Option<JobError> {
    let properties = |is_so: &dyn Fn(&Notations) -> bool| {
        let names: Vec<_> = detected.iter().filter(|(_, found)| is_so(found)).map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| listed(names))
    };
    let date = |order, text: &str| {
        properties(&|found| found.date_order == Some(order)).map(|names| format!("dates as {text}: {names}"))
    };
    let found = [
        properties(&|found| found.decimal_separator == Some(NumberNotation::DecimalComma))
            .map(|names| format!("numbers with a decimal comma: {names}")),
        date(DateOrder::Dmy, "day, month, year"),
        date(DateOrder::Mdy, "month, day, year"),
        date(DateOrder::Ymd, "year, month, day"),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let message = || format!("notations that the first rows show: {}", found.join("; "));
    (!found.is_empty()).then(|| JobError::new("notations_found", message()))
}

#[cfg(test)]
#[path = "detection_tests.rs"]
mod tests;
