//! The conversion of cells to the JSON values that the schema expects, in the notation of their column.
//!
//! With the format `date`, a date is converted to ISO 8601; with `date-time`, a date with or without a time to RFC
//! 3339, with the zone of the options unless the cell names one. Otherwise, if text is allowed, a cell is text, so
//! leading zeros are kept. Otherwise it is an integer, a decimal, or a word for true or false; surrounding spaces are
//! ignored. Single letters and digits are no booleans: a wrong column would be imported as plausible data. A cell of no
//! allowed type stays text, so that the check reports the error. Integers keep every digit or stay text: JSON numbers
//! have 64 bits here. Decimals have double precision, as usual in JSON; use a string property for more digits.

use std::collections::BTreeMap;

use longshore_schedules::{ClockTimeError, Zone};
use longshore_tabular::{Ambiguity, NumberNotation, Numbers, parse_boolean, read_date, read_number};
use serde_json::{Number, Value};

use super::kinds::Kind;
use super::notations::{Blanks, Notations};
use super::options::ImportOptions;

/// The reason why the value of a cell is not certain.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Uncertain {
    /// It depends on a notation that is not known.
    Notation(Ambiguity),
    /// The time names no zone, and neither do the options.
    NoZone,
    /// The clock of a zone shows the time twice: it is one of these.
    Twice { zone: String, times: [String; 2] },
    /// The clock of this zone never shows the time.
    Never(String),
}

impl From<Ambiguity> for Uncertain {
    fn from(ambiguity: Ambiguity) -> Self {
        Self::Notation(ambiguity)
    }
}

/// The conversion of the cells of a column.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    kind: Kind,
    notations: Notations,
    /// The zone of times that name none.
    zone: Option<Zone>,
    values: Option<BTreeMap<String, Value>>,
    trim: bool,
    blanks: Blanks,
}

impl Conversion {
    /// Creates the conversion to a property.
    pub(super) fn new(options: &ImportOptions, property: &str) -> Self {
        Self {
            kind: options.compiled().map_or(Kind::TEXT, |schema| schema.kind(property)),
            notations: options.notations_of(property),
            zone: options.zone(),
            values: options.values.get(property).cloned(),
            trim: options.trim,
            blanks: options.blanks,
        }
    }

    /// Returns the conversion of cells whose numbers have a decimal point.
    pub(super) fn with_decimal_point(&self) -> Self {
        let decimal_separator = Some(NumberNotation::DecimalPoint);
        Self { notations: Notations { decimal_separator, ..self.notations }, ..self.clone() }
    }

    /// Returns the kind of the cells.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the notations of the cells.
    pub(super) fn notations(&self) -> Notations {
        self.notations
    }

    /// Returns true if the options have the zone of times that name none.
    pub(super) fn has_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// Returns true if the options give the value of this cell.
    pub(super) fn has_value_of(&self, cell: &str) -> bool {
        self.values.as_ref().is_some_and(|values| values.contains_key(self.text(cell)))
    }

    /// Returns a cell's text: without surrounding spaces, if the options say so.
    pub(super) fn text<'a>(&self, cell: &'a str) -> &'a str {
        if self.trim { cell.trim() } else { cell }
    }

    /// Returns the text of a cell if that is its value, so that it can be copied.
    pub(super) fn as_text<'a>(&self, cell: &'a str) -> Option<&'a str> {
        let is_text = self.kind.text && self.values.is_none() && !self.kind.date_time;
        let is_value = |text: &&str| !text.is_empty() && (!self.kind.date || has_form_of_date(text));
        Some(self.text(cell)).filter(|text| is_text && is_value(text))
    }

    /// Returns the value of a cell; `None` if its property is absent.
    ///
    /// # Errors
    /// If the value is not certain.
    pub(super) fn convert(&self, cell: &str) -> Result<Option<Value>, Uncertain> {
        let text = self.text(cell);
        if let Some(value) = self.values.as_ref().and_then(|values| values.get(text)) {
            return Ok(Some(value.clone()));
        }
        match (text.is_empty(), self.blanks) {
            (true, Blanks::Absent) => Ok(None),
            (true, Blanks::Null) => Ok(Some(Value::Null)),
            (false, _) => coerce(text, self.kind, self.notations, self.zone.as_ref()).map(Some),
        }
    }
}

/// Returns true for the form of a date in ISO 8601.
fn has_form_of_date(text: &str) -> bool {
    let form = text
        .bytes()
        .enumerate()
        .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    form && text.len() == 10
}

/// Converts a non-empty cell.
///
/// # Errors
/// If the value is not certain.
fn coerce(cell: &str, kind: Kind, notations: Notations, zone: Option<&Zone>) -> Result<Value, Uncertain> {
    if kind.has_dates()
        && let Some(date) = read_date(cell, notations.date_order, notations.pivot_year)?
    {
        let is_day = kind.date && !has_time(&date);
        return Ok(Value::String(if kind.date_time && !is_day { date_time(date, zone)? } else { date }));
    }
    if kind.text {
        return Ok(Value::String(cell.to_owned()));
    }
    let text = cell.trim_ascii();
    if let Some(numbers) = kind.numbers()
        && let Some(number) = number(text, numbers, notations.decimal_separator)?
    {
        return Ok(Value::Number(number));
    }
    if kind.boolean
        && let Some(truth) = boolean(text)
    {
        return Ok(Value::Bool(truth));
    }
    Ok(Value::String(cell.to_owned()))
}

/// Returns a date of [`read_date`] as a time in RFC 3339. A date without a time is the start of its day: a workbook
/// stores a time at midnight as a date.
fn date_time(date: String, zone: Option<&Zone>) -> Result<String, Uncertain> {
    if has_zone(&date) {
        return Ok(date);
    }
    let zone = zone.ok_or(Uncertain::NoZone)?;
    if !has_time(&date) {
        return Ok(zone.start_of_day(&date).unwrap_or(date));
    }
    match zone.with_offset(&date) {
        Ok(time) => Ok(time),
        Err(ClockTimeError::NoTime) => Ok(date),
        Err(ClockTimeError::Never) => Err(Uncertain::Never(zone.name().to_owned())),
        Err(ClockTimeError::Twice(times)) => Err(Uncertain::Twice { zone: zone.name().to_owned(), times }),
    }
}

/// Returns true for a date of [`read_date`] that has a time.
pub(super) fn has_time(date: &str) -> bool {
    date.contains('T')
}

/// Returns true for a date of [`read_date`] that names a zone.
pub(super) fn has_zone(date: &str) -> bool {
    date.split_once('T').is_some_and(|(_, time)| time.contains(['Z', '+', '-']))
}

/// Returns the boolean that a word means. Single letters and digits are no words.
fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ if text.len() > 1 => parse_boolean(text),
        _ => None,
    }
}

fn number(text: &str, numbers: Numbers, notation: Option<NumberNotation>) -> Result<Option<Number>, Ambiguity> {
    // The usual case. An integer without separators is the same in every notation.
    let is_decimal = numbers == Numbers::All && notation == Some(NumberNotation::DecimalPoint);
    let plain = integer(text).or_else(|| if is_decimal { decimal(text) } else { None });
    if plain.is_some() {
        return Ok(plain);
    }
    let text = read_number(text, numbers, notation)?;
    Ok(text.and_then(|text| integer(&text).or_else(|| decimal(&text).filter(|_| numbers == Numbers::All))))
}

/// Returns true if a text is an integer with too many digits for 64 bits.
pub(super) fn is_long_integer(text: &str) -> bool {
    let digits = text.trim_ascii().trim_start_matches(['-', '+']);
    digits.len() > 18 && digits.bytes().all(|b| b.is_ascii_digit())
}

fn integer(text: &str) -> Option<Number> {
    if text.len() < 19 {
        return text.parse::<i64>().ok().map(Number::from);
    }
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// Parses decimals and exponents as in JSON, and also accepts leading pluses and zeros; no `inf`, no `nan`.
fn decimal(text: &str) -> Option<Number> {
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    if !decimal || is_long_integer(text) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
#[path = "conversion_tests.rs"]
mod tests;
