//! The columns of a table according to a schema (names, required columns, types of cells), and the conversion of cells
//! to these types.
//!
//! The columns are read from the root's `properties` and `required`, through local `$ref`s and `allOf`. A property's
//! kind comes from its `type`, else from its `enum` or `const`, else from its `anyOf` and `oneOf` together. Other
//! keywords (`if`, `dependentSchemas`) apply to the check, but not to the conversion of cells. Each part is visited
//! once, regardless of the number of references to it: the work is linear in the schema.
//!
//! A CSV cell is converted to the JSON value that the schema expects. An empty cell is an absent property (handled by
//! the caller). If text is allowed, a cell is text, so leading zeros are kept. Otherwise it is an integer, a decimal,
//! or `true` and `false` in any case; surrounding spaces are ignored. `1`, `0`, `yes` and `no` are not booleans:
//! guessing would import a wrong column as plausible data. A cell of no allowed type stays text, so that the check
//! reports the error. Integers keep every digit or stay text: JSON numbers have 64 bits here. Decimals have double
//! precision, as usual in JSON; use a string property for more digits.

use std::collections::{HashMap, HashSet};

use serde_json::{Number, Value};

/// The allowed types of a column's cells. No type means text.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Kind {
    pub(super) text: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) boolean: bool,
}

impl Kind {
    /// Text only.
    pub(super) const TEXT: Self = Self { text: true, integer: false, number: false, boolean: false };

    fn or(self, other: Self) -> Self {
        Self {
            text: self.text || other.text,
            integer: self.integer || other.integer,
            number: self.number || other.number,
            boolean: self.boolean || other.boolean,
        }
    }

    fn named(name: &Value) -> Self {
        match name.as_str() {
            Some("string") => Self::TEXT,
            Some("integer") => Self { integer: true, ..Self::default() },
            Some("number") => Self { integer: true, number: true, ..Self::default() },
            Some("boolean") => Self { boolean: true, ..Self::default() },
            _ => Self::default(),
        }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::TEXT,
            Value::Number(_) => Self { integer: true, number: true, ..Self::default() },
            Value::Bool(_) => Self { boolean: true, ..Self::default() },
            _ => Self::default(),
        }
    }
}

/// The columns that a schema describes.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) kinds: HashMap<String, Kind>,
    pub(super) required: Vec<String>,
    pub(super) open: bool,
}

impl Shape {
    /// Reads a schema.
    pub(super) fn new(schema: &Value) -> Self {
        let mut shape = Self::default();
        let (mut open, mut visited) = (vec![schema], HashSet::new());
        let mut kinds = Kinds { root: schema, known: HashMap::new() };
        let mut required = HashSet::new();
        while let Some(part) = open.pop() {
            if !visited.insert(std::ptr::from_ref(part)) {
                continue;
            }
            for (name, property) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let kind = shape.kinds.entry(name.clone()).or_default();
                *kind = kind.or(kinds.kind_of(property));
            }
            for name in list(part, "required").iter().filter_map(Value::as_str) {
                if required.insert(name) {
                    shape.required.push(name.to_owned());
                }
            }
            shape.open |= part.get("patternProperties").is_some();
            // The next part to be visited is last.
            open.extend(list(part, "allOf").iter().rev().chain(resolve(schema, part)));
        }
        shape
    }
}

/// The kinds of the parts read so far.
struct Kinds<'a> {
    root: &'a Value,
    known: HashMap<*const Value, Kind>,
}

impl<'a> Kinds<'a> {
    /// Returns the kind of cell that a part describes; no kind while the part is being read, so that a part that
    /// refers to itself terminates.
    fn kind_of(&mut self, part: &'a Value) -> Kind {
        let union = |kinds: &mut dyn Iterator<Item = Kind>| kinds.fold(Kind::default(), Kind::or);
        match (part.get("type"), part.get("enum"), part.get("const")) {
            (Some(Value::Array(names)), ..) => return union(&mut names.iter().map(Kind::named)),
            (Some(name), ..) => return Kind::named(name),
            (_, Some(Value::Array(values)), _) => return union(&mut values.iter().map(Kind::of_value)),
            (.., Some(value)) => return Kind::of_value(value),
            _ => {}
        }
        if let Some(known) = self.known.get(&std::ptr::from_ref(part)) {
            return *known;
        }
        self.known.insert(part, Kind::default());
        let parts = ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|name| list(part, name));
        let kind = union(&mut resolve(self.root, part).into_iter().chain(parts).map(|part| self.kind_of(part)));
        self.known.insert(part, kind);
        kind
    }
}

/// Returns the target of a local reference.
fn resolve<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Converts a non-empty cell.
pub(super) fn coerce(cell: &str, kind: Kind) -> Value {
    if kind.text {
        return Value::String(cell.to_owned());
    }
    let text = cell.trim_ascii();
    let number = if kind.integer { integer(text) } else { None };
    let number = number.or_else(|| if kind.number { decimal(text) } else { None });
    if let Some(number) = number {
        return Value::Number(number);
    }
    if kind.boolean {
        if text.eq_ignore_ascii_case("true") {
            return Value::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Value::Bool(false);
        }
    }
    Value::String(cell.to_owned())
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
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, Shape, coerce, is_long_integer};

    fn kind(property: Value) -> Kind {
        let schema = json!({"properties": {"p": property}, "$defs": {"id": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}});
        Shape::new(&schema).kinds["p"]
    }

    #[test]
    fn the_kind_is_found_in_every_keyword_that_determines_it() {
        let integer = Kind { integer: true, ..Kind::default() };
        let number = Kind { integer: true, number: true, ..Kind::default() };
        assert_eq!(kind(json!({"type": "string"})), Kind::TEXT);
        assert_eq!(kind(json!({"type": "integer"})), integer);
        assert_eq!(kind(json!({"type": ["integer", "null"]})), integer);
        assert_eq!(kind(json!({"$ref": "#/$defs/id"})), integer);
        assert_eq!(kind(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})), integer);
        assert_eq!(kind(json!({"allOf": [{"$ref": "#/$defs/id"}, {"minimum": 1}]})), integer);
        assert_eq!(kind(json!({"enum": [1, 2.5, null]})), number);
        assert_eq!(kind(json!({"const": true})), Kind { boolean: true, ..Kind::default() });
        assert_eq!(kind(json!({"type": ["string", "integer"]})), Kind { text: true, integer: true, ..Kind::default() });
        assert_eq!(kind(json!({"$ref": "#/$defs/loop"})), Kind::default());
        assert_eq!(kind(json!(true)), Kind::default());
    }

    #[test]
    fn properties_are_found_through_references_and_all_of() {
        let schema = json!({
            "$ref": "#/$defs/row",
            "allOf": [{"properties": {"b": {"type": "boolean"}}, "required": ["b", "a"]}],
            "$defs": {"row": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
        });
        let shape = Shape::new(&schema);
        assert_eq!(shape.kinds.len(), 2);
        assert_eq!(shape.required, ["a", "b"]);
    }

    const INTEGER: Kind = Kind { text: false, integer: true, number: false, boolean: false };
    const NUMBER: Kind = Kind { text: false, integer: true, number: true, boolean: false };
    const BOOLEAN: Kind = Kind { text: false, integer: false, number: false, boolean: true };

    #[test]
    fn a_cell_is_converted_to_the_type_of_the_schema() {
        let rules: [(&str, Kind, Value); 30] = [
            ("007", Kind::TEXT, json!("007")),
            (" a ", Kind::TEXT, json!(" a ")),
            ("42", Kind { text: true, ..INTEGER }, json!("42")),
            ("42", INTEGER, json!(42)),
            (" 42 ", INTEGER, json!(42)),
            ("+42", INTEGER, json!(42)),
            ("-0", INTEGER, json!(0)),
            ("007", INTEGER, json!(7)),
            ("-9223372036854775808", INTEGER, json!(i64::MIN)),
            ("18446744073709551615", INTEGER, json!(u64::MAX)),
            ("18446744073709551616", INTEGER, json!("18446744073709551616")),
            ("1.0", INTEGER, json!("1.0")),
            ("1e3", INTEGER, json!("1e3")),
            ("12a", INTEGER, json!("12a")),
            ("", INTEGER, json!("")),
            (" ", INTEGER, json!(" ")),
            ("1,5", NUMBER, json!("1,5")),
            ("1.5", NUMBER, json!(1.5)),
            ("-.5", NUMBER, json!(-0.5)),
            ("12", NUMBER, json!(12)),
            ("9007199254740993", NUMBER, json!(9_007_199_254_740_993_i64)),
            ("99999999999999999999", NUMBER, json!("99999999999999999999")),
            ("1E3", NUMBER, json!(1000.0)),
            ("inf", NUMBER, json!("inf")),
            ("NaN", NUMBER, json!("NaN")),
            ("1e999", NUMBER, json!("1e999")),
            ("TRUE", BOOLEAN, json!(true)),
            ("False ", BOOLEAN, json!(false)),
            ("1", BOOLEAN, json!("1")),
            ("yes", BOOLEAN, json!("yes")),
        ];
        for (cell, kind, value) in rules {
            assert_eq!(coerce(cell, kind), value, "{cell:?} as {kind:?}");
        }
    }

    #[test]
    fn a_cell_is_converted_to_the_first_matching_type_of_a_list() {
        let any = Kind { boolean: true, ..NUMBER };
        assert_eq!(coerce("true", any), json!(true));
        assert_eq!(coerce("2.5", any), json!(2.5));
        assert_eq!(coerce("2", any), json!(2));
    }

    #[test]
    fn a_long_integer_is_recognized() {
        assert!(is_long_integer("18446744073709551616") && is_long_integer("-99999999999999999999"));
        assert!(!is_long_integer("123") && !is_long_integer("1234567890123456789.5") && !is_long_integer("x"));
    }
}
