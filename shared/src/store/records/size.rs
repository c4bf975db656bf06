//! Limits of a record in the table, checked before anything is written, so that `validate` reports them too.
//!
//! Sizes follow DynamoDB's rules, rounded up where these are vague: a record that passes is never refused for its
//! size, and one within three hundred bytes of the limit may be refused although it would just fit.

use longshore_domain::text::{NAME_CHARS, quoted, shortened};
use serde_json::{Map, Number, Value};

use crate::aws_limits::dynamodb;

/// Maximum length of a key: that of a sort key.
pub const MAX_KEY_BYTES: usize = dynamodb::SORT_KEY_BYTES;

/// Maximum size of an item.
pub const MAX_ITEM_BYTES: usize = dynamodb::ITEM_BYTES;

/// Size of everything in an item that is neither key nor data: names of attributes, partition key (a tenant's id of
/// up to 128 bytes, a dataset's name of up to 64), writer, times; what undo needs: creator, place of the previous
/// version, and the row that has restored the record.
const FIXED_BYTES: usize =
    2 * 2 + 12 + 128 + 64 + 4 + (6 + 57) + (9 + 21) + (9 + 21) + (9 + 36) + (8 + PLACE_BYTES) + (10 + 57) + 3;

/// Maximum length of the place of a previous version: a job, a file's name of random characters and a row's number, and
/// two offsets in a file of less than 100 MB.
const PLACE_BYTES: usize = 36 + 1 + (8 + 1 + 20) + 1 + 8 + 1 + 8;

/// Maximum number of nested levels below the attribute `data`, which is the first.
const MAX_DEPTH: usize = dynamodb::NESTING_LEVELS - 1;

/// The reason why the table cannot hold a record.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Misfit {
    /// Key and properties have this number of bytes.
    TooLarge(usize),
    /// The named property contains values that are nested too deep.
    TooDeep(String),
    /// The named property contains a number beyond 1e125, or nearer to zero than 1e-130.
    NumberOutOfRange(String),
    /// The named property, or one in it, has an empty name.
    EmptyName(String),
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(bytes) => {
                write!(f, "the record has {bytes} bytes; the maximum is {MAX_ITEM_BYTES}, including the names")
            }
            Self::TooDeep(name) => write!(f, "{} is nested deeper than {MAX_DEPTH} levels", shown(name)),
            Self::NumberOutOfRange(name) => {
                write!(
                    f,
                    "{} contains a number that is too large or too near to zero to be stored; use a string",
                    shown(name)
                )
            }
            Self::EmptyName(name) => write!(f, "{} contains a property without a name", quoted(name)),
        }
    }
}

fn shown(name: &str) -> String {
    shortened(name, NAME_CHARS)
}

/// Checks that the table can hold a record.
///
/// # Errors
/// The reason why it cannot.
pub fn fits(key: &str, data: &Map<String, Value>) -> Result<(), Misfit> {
    let bytes = total(key, data)?;
    if bytes > MAX_ITEM_BYTES { Err(Misfit::TooLarge(bytes)) } else { Ok(()) }
}

/// Returns the bytes of a record that fits.
pub(super) fn bytes(key: &str, data: &Map<String, Value>) -> usize {
    total(key, data).unwrap_or(MAX_ITEM_BYTES)
}

/// Returns the bytes that are billed for a record whose size is [`bytes`], about: most have no long names, and no
/// version to keep.
pub(super) fn billed(bytes: usize) -> usize {
    const ROUNDED_UP: usize = 300;
    bytes.saturating_sub(ROUNDED_UP)
}

fn total(key: &str, data: &Map<String, Value>) -> Result<usize, Misfit> {
    data.iter().try_fold(FIXED_BYTES + key.len(), |sum, (name, value)| {
        if name.is_empty() {
            return Err(Misfit::EmptyName(name.clone()));
        }
        Ok(sum + 1 + name.len() + value_bytes(value, 2).map_err(|odd| odd.in_property(name))?)
    })
}

enum ValueMisfit {
    Depth,
    Number,
    Name,
}

impl ValueMisfit {
    fn in_property(self, name: &str) -> Misfit {
        match self {
            Self::Depth => Misfit::TooDeep(name.to_owned()),
            Self::Number => Misfit::NumberOutOfRange(name.to_owned()),
            Self::Name => Misfit::EmptyName(name.to_owned()),
        }
    }
}

fn value_bytes(value: &Value, depth: usize) -> Result<usize, ValueMisfit> {
    match value {
        Value::Null | Value::Bool(_) => Ok(1),
        Value::Number(number) => number_bytes(number),
        Value::String(text) => Ok(text.len()),
        Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => Err(ValueMisfit::Depth),
        Value::Array(values) => values.iter().try_fold(3, |sum, v| Ok(sum + 1 + value_bytes(v, depth + 1)?)),
        Value::Object(members) => members.iter().try_fold(3, |sum, (name, v)| {
            if name.is_empty() {
                return Err(ValueMisfit::Name);
            }
            Ok(sum + 1 + name.len() + value_bytes(v, depth + 1)?)
        }),
    }
}

/// Returns the size of a number: two digits a byte and one more, so 21 bytes at most, which is charged for every
/// number.
fn number_bytes(number: &Number) -> Result<usize, ValueMisfit> {
    const BYTES: usize = 21;
    if !number.is_f64() {
        return Ok(BYTES);
    }
    let size = number.as_f64().unwrap_or_default().abs();
    if size == 0.0 || (1e-130..1e125).contains(&size) { Ok(BYTES) } else { Err(ValueMisfit::Number) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_DEPTH, Misfit, fits};

    fn check(data: Value) -> Result<(), Misfit> {
        fits("k", data.as_object().unwrap())
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn a_record_fits_up_to_the_size_of_an_item() {
        assert_eq!(check(json!({"id": 1, "note": "x".repeat(408_800), "tags": ["a", null, true]})), Ok(()));
        assert!(matches!(check(json!({"note": "x".repeat(409_600)})), Err(Misfit::TooLarge(n)) if n > 409_600));
        let many: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("column-{n}"), json!(n))).collect();
        assert!(matches!(check(Value::Object(many)), Err(Misfit::TooLarge(_))));
    }

    #[test]
    fn what_the_table_would_refuse_is_detected_before() {
        assert_eq!(check(json!({"a": nested(MAX_DEPTH - 1)})), Ok(()));
        assert_eq!(check(json!({"a": nested(MAX_DEPTH)})), Err(Misfit::TooDeep("a".into())));
        assert_eq!(check(json!({"a": 1e126})), Err(Misfit::NumberOutOfRange("a".into())));
        assert_eq!(check(json!({"a": -1e-131})), Err(Misfit::NumberOutOfRange("a".into())));
        assert_eq!(check(json!({"a": [0.0, u64::MAX, -1.5]})), Ok(()));
        assert_eq!(check(json!({"a": {"": 1}})), Err(Misfit::EmptyName("a".into())));
        assert_eq!(check(json!({"": 1})), Err(Misfit::EmptyName("".into())));
    }
}
