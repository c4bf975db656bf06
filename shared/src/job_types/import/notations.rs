//! The notations of numbers and dates: those that the options give, and those that were detected in the first rows.

use std::collections::BTreeMap;

use longshore_schedules::Zone;
use longshore_tabular::{DateOrder, NumberNotation, PIVOT_YEARS};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::options::ImportOptions;
use crate::field_error::{FieldError, escape};
use crate::handler::DetectedMembers;

/// The notations of a property's cells.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = PropertyNotations)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Notations {
    /// The decimal separator of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[.,]$")]
    pub decimal_separator: Option<NumberNotation>,
    /// The order of day, month and year in dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(dmy|mdy|ymd)$")]
    pub date_order: Option<DateOrder>,
    /// First year of the 100-year window for two-digit years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1_000, maximum = 9_900)]
    pub pivot_year: Option<u16>,
}

impl Notations {
    /// Returns these notations, with `others` where there is none.
    fn or(self, others: Self) -> Self {
        Self {
            decimal_separator: self.decimal_separator.or(others.decimal_separator),
            date_order: self.date_order.or(others.date_order),
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
    pub(super) fn notations_of(&self, property: &str) -> Notations {
        let Self { decimal_separator, date_order, pivot_year, .. } = *self;
        let of_all = Notations { decimal_separator, date_order, pivot_year };
        self.notations.get(property).copied().unwrap_or_default().or(of_all)
    }

    /// Returns the notation of a property's numbers or dates, for messages; `None` if there is none.
    pub(super) fn notation_in_words(&self, property: &str) -> Option<&'static str> {
        let (kind, notations) = (self.compiled()?.kind(property), self.notations_of(property));
        if kind.numbers().is_some() {
            return notations.decimal_separator.map(|separator| match separator {
                NumberNotation::DecimalPoint => "numbers in this column have a decimal point",
                NumberNotation::DecimalComma => "numbers in this column have a decimal comma",
            });
        }
        notations.date_order.filter(|_| kind.has_dates()).map(|order| match order {
            DateOrder::Dmy => "dates in this column are day, month, year",
            DateOrder::Mdy => "dates in this column are month, day, year",
            DateOrder::Ymd => "dates in this column are year, month, day",
        })
    }

    /// Returns the errors of pivot years.
    pub(super) fn check_pivot_years(&self) -> Vec<FieldError> {
        let own = self.notations.iter();
        let own = own.map(|(property, notations)| {
            (format!("/options/notations/{}/pivotYear", escape(property)), notations.pivot_year)
        });
        let of_all = (String::from("/options/pivotYear"), self.pivot_year);
        let bad = own.chain([of_all]).filter(|(_, year)| year.is_some_and(|year| !PIVOT_YEARS.contains(&year)));
        bad.map(|(at, _)| FieldError::new(at, "invalid_pivot_year", "pivotYear must be from 1000 to 9900")).collect()
    }
}

impl ImportOptions {
    /// Returns the zone of times that name none.
    pub(super) fn zone(&self) -> Option<Zone> {
        Zone::new(self.time_zone.as_ref()?).ok()
    }

    /// Returns the error of the time zone.
    pub(super) fn check_time_zone(&self) -> Option<FieldError> {
        let error = Zone::new(self.time_zone.as_ref()?).err()?;
        Some(FieldError::new("/options/timeZone", "invalid_time_zone", error.to_string()))
    }
}

/// The notations that were detected, by property.
pub(super) type DetectedNotations = BTreeMap<String, Notations>;

/// Returns what was detected, and the options with it; `None` if nothing was.
pub(super) fn detected_members(options: &ImportOptions, found: &DetectedNotations) -> Option<DetectedMembers> {
    if found.is_empty() {
        return None;
    }
    let mut notations = options.notations.clone();
    for (property, found) in found {
        let given = notations.entry(property.clone()).or_default();
        *given = given.or(*found);
    }
    let members = Map::from_iter([("notations".to_owned(), json!(notations))]);
    Some(DetectedMembers { found: json!({ "notations": found }), members })
}

/// Returns what an earlier check has detected.
pub(super) fn found_before(found: &Value) -> DetectedNotations {
    let notations = found.get("notations").map(DetectedNotations::deserialize);
    notations.and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_detected_is_added_to_the_options() {
        let options = json!({ "dataset": "d", "key": "id", "notations": {
            "a": { "decimalSeparator": null, "dateOrder": "dmy" }, "c": { "pivotYear": 1950 } } });
        let options: ImportOptions = serde_json::from_value(options).unwrap();
        let comma = Notations { decimal_separator: Some(NumberNotation::DecimalComma), ..Notations::default() };
        let found = DetectedNotations::from([("a".to_owned(), comma), ("b".to_owned(), comma)]);
        let detected = detected_members(&options, &found).unwrap();
        let expected = json!({ "notations": {
            "a": { "decimalSeparator": ",", "dateOrder": "dmy" }, "b": { "decimalSeparator": "," }, "c": { "pivotYear": 1950 }
        } });
        assert_eq!(Value::Object(detected.members), expected);
        assert_eq!(found_before(&detected.found), found);
        assert_eq!(detected_members(&options, &DetectedNotations::new()), None);
        assert_eq!(found_before(&Value::Null), DetectedNotations::new());
    }

    #[test]
    fn the_notation_of_a_property_comes_before_that_of_all() {
        let options = json!({ "dataset": "d", "key": "id", "decimalSeparator": ".", "pivotYear": 1950,
            "notations": { "a": { "decimalSeparator": "," } } });
        let options: ImportOptions = serde_json::from_value(options).unwrap();
        let (a, b) = (options.notations_of("a"), options.notations_of("b"));
        assert_eq!((a.decimal_separator, a.pivot_year), (Some(NumberNotation::DecimalComma), Some(1950)));
        assert_eq!(b.decimal_separator, Some(NumberNotation::DecimalPoint));
    }
}
