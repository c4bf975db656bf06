//! The stored forms of costs: short texts, so that a job stays below the 1,024 bytes of one write unit until its end.
//!
//! | value | text |
//! | --- | --- |
//! | [`Cost`] | nano-dollars of compute, requests, database, storage and queue: `631,76,62621,31,38` |
//! | [`CostEstimate`] | cost, items, assumed bytes of an item, assumed microseconds of a write: `1,2,3,4,5;26215;200;1000` |
//!
//! A number is empty if it is absent. Further numbers, of a later version, are ignored.

use std::str::FromStr;

use super::{Cost, CostEstimate, NanoDollars};

/// A stored cost that cannot be read.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{0:?} is not a stored cost")]
pub struct InvalidCost(String);

impl From<Cost> for String {
    fn from(Cost { compute, requests, database, storage, queue }: Cost) -> Self {
        [compute, requests, database, storage, queue].map(|part| part.0.to_string()).join(",")
    }
}

impl TryFrom<String> for Cost {
    type Error = InvalidCost;

    fn try_from(text: String) -> Result<Self, InvalidCost> {
        cost(&text).ok_or(InvalidCost(text))
    }
}

impl From<CostEstimate> for String {
    fn from(CostEstimate { cost, items, assumed_item_bytes, assumed_write_micros }: CostEstimate) -> Self {
        let optional = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let assumed = [assumed_item_bytes, assumed_write_micros].map(optional);
        [Self::from(cost), items.to_string(), assumed.join(";")].join(";")
    }
}

impl TryFrom<String> for CostEstimate {
    type Error = InvalidCost;

    fn try_from(text: String) -> Result<Self, InvalidCost> {
        estimated(&text).ok_or(InvalidCost(text))
    }
}

fn cost(text: &str) -> Option<Cost> {
    let mut parts = text.split(',');
    let mut part = || number(parts.next()?).map(NanoDollars);
    Some(Cost { compute: part()?, requests: part()?, database: part()?, storage: part()?, queue: part()? })
}

fn estimated(text: &str) -> Option<CostEstimate> {
    let mut parts = text.split(';');
    let (cost, items) = (cost(parts.next()?)?, number(parts.next()?)?);
    let mut assumed = || match parts.next()? {
        "" => Some(None),
        digits => number(digits).map(Some),
    };
    Some(CostEstimate { cost, items, assumed_item_bytes: assumed()?, assumed_write_micros: assumed()? })
}

fn number<T: FromStr>(digits: &str) -> Option<T> {
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Cost = Cost {
        compute: NanoDollars(1),
        requests: NanoDollars(0),
        database: NanoDollars(3),
        storage: NanoDollars(4),
        queue: NanoDollars(u64::MAX),
    };

    #[test]
    fn a_cost_and_an_estimate_survive_storage() {
        let text = String::from(COST);
        assert_eq!((text.as_str(), Cost::try_from(text.clone())), ("1,0,3,4,18446744073709551615", Ok(COST)));
        for (bytes, micros, end) in [(Some(200), Some(1_000), ";7;200;1000"), (None, None, ";7;;")] {
            let (assumed_item_bytes, assumed_write_micros) = (bytes, micros);
            let estimate = CostEstimate { cost: COST, items: 7, assumed_item_bytes, assumed_write_micros };
            let stored = String::from(estimate);
            assert_eq!(stored, format!("{text}{end}"));
            assert_eq!(CostEstimate::try_from(stored), Ok(estimate));
        }
    }

    #[test]
    fn further_numbers_are_ignored_and_missing_ones_refused() {
        assert_eq!(Cost::try_from("1,0,3,4,18446744073709551615,6".to_owned()), Ok(COST));
        assert!(CostEstimate::try_from("1,2,3,4,5;7;;;9".to_owned()).is_ok());
        for bad in ["", "1,2,3,4", "1,2,3,4,", "1,2,3,4,-5", "1,2,3,4,5.5"] {
            assert_eq!(Cost::try_from(bad.to_owned()), Err(InvalidCost(bad.to_owned())));
        }
        for bad in ["", "1,2,3,4,5", "1,2,3,4,5;7;200", "1,2,3,4,5;;200;1000", "1,2,3,4,5;7;a;"] {
            assert!(CostEstimate::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
