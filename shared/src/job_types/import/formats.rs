//! The notations of cells: those that the options give, and those that the first rows have decided.

use std::collections::BTreeMap;

use longshore_tabular::{DateOrder, NumberNotation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::options::ImportOptions;
use crate::field_error::{FieldError, escape};

/// Pivot years that a date can have.
const PIVOT_YEARS: std::ops::RangeInclusive<u16> = 1_000..=9_900;

/// Notations of the cells of a property.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ColumnFormat)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Formats {
    /// The decimal separator of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[.,]$")]
    pub numbers: Option<NumberNotation>,
    /// The order of day, month and year in dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(dmy|mdy|ymd)$")]
    pub dates: Option<DateOrder>,
    /// First year of the hundred years that years of two digits are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1_000, maximum = 9_900)]
    pub pivot_year: Option<u16>,
}

impl Formats {
    /// Returns these notations, with `others` where there is none.
    fn or(self, others: Self) -> Self {
        Self {
            numbers: self.numbers.or(others.numbers),
            dates: self.dates.or(others.dates),
            pivot_year: self.pivot_year.or(others.pivot_year),
        }
    }
}

/// What an empty cell is.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Blanks {
    /// A property that the record does not have.
    #[default]
    Absent,
    /// A property with the value `null`.
    Null,
}

impl ImportOptions {
    /// Returns the notations of a property.
    pub(super) fn formats_of(&self, property: &str) -> Formats {
        let of_all = Formats { numbers: self.numbers, dates: self.dates, pivot_year: self.pivot_year };
        self.formats.get(property).copied().unwrap_or_default().or(of_all)
    }

    /// Returns the errors of pivot years.
    pub(super) fn check_pivot_years(&self) -> Vec<FieldError> {
        let own = self.formats.iter();
        let own = own.map(|(property, formats)| {
            (format!("/options/formats/{}/pivotYear", escape(property)), formats.pivot_year)
        });
        let of_all = (String::from("/options/pivotYear"), self.pivot_year);
        let is_bad = |year: &Option<u16>| year.is_some_and(|year| !PIVOT_YEARS.contains(&year));
        let bad = own.chain([of_all]).filter(|(_, year)| is_bad(year));
        bad.map(|(at, _)| FieldError::new(at, "invalid_pivot_year", "pivotYear must be from 1000 to 9900")).collect()
    }
}

/// Returns the options that the notations found in the first rows decide; `None` if there are none.
pub(super) fn decided(options: &ImportOptions, found: BTreeMap<String, Formats>) -> Option<Value> {
    if found.is_empty() {
        return None;
    }
    let mut formats = options.formats.clone();
    for (property, found) in found {
        let given = formats.entry(property).or_default();
        *given = given.or(found);
    }
    Some(json!({ "formats": formats }))
}

/// Returns the notations that were found, from the options that they have decided.
pub(super) fn found(options: &ImportOptions, decided: &Value) -> BTreeMap<String, Formats> {
    let formats = decided.get("formats").map(BTreeMap::<String, Formats>::deserialize);
    let formats = formats.and_then(Result::ok).unwrap_or_default();
    let is_found = |(property, decided): &(String, Formats)| options.formats_of(property) != *decided;
    formats.into_iter().filter(is_found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_decided_and_found_again() {
        let options = json!({ "dataset": "d", "key": "id", "formats": { "a": { "dates": "dmy" } } });
        let options: ImportOptions = serde_json::from_value(options).unwrap();
        let comma = Formats { numbers: Some(NumberNotation::DecimalComma), ..Formats::default() };
        let of_both = BTreeMap::from([("a".to_owned(), comma), ("b".to_owned(), comma)]);
        let stored = decided(&options, of_both).unwrap();
        let expected = json!({ "formats": { "a": { "numbers": ",", "dates": "dmy" }, "b": { "numbers": "," } } });
        assert_eq!(stored, expected);
        assert_eq!(found(&options, &stored).into_keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(decided(&options, BTreeMap::new()), None);
        assert_eq!(found(&options, &json!({})), BTreeMap::new());
    }

    #[test]
    fn the_notation_of_a_property_comes_before_that_of_all() {
        let options = json!({ "dataset": "d", "key": "id", "numbers": ".", "pivotYear": 1950,
            "formats": { "a": { "numbers": "," } } });
        let options: ImportOptions = serde_json::from_value(options).unwrap();
        let (a, b) = (options.formats_of("a"), options.formats_of("b"));
        assert_eq!((a.numbers, a.pivot_year), (Some(NumberNotation::DecimalComma), Some(1950)));
        assert_eq!(b.numbers, Some(NumberNotation::DecimalPoint));
    }
}
