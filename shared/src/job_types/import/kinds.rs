//! The columns of a table according to a schema: names, required columns, types of cells.
//!
//! The columns are read from the root's `properties` and `required`, through local `$ref`s and `allOf`. A property's
//! kind comes from its `format`, and its `type`, else from its `enum` or `const`, else from its `anyOf` and `oneOf`
//! together. Other keywords (`if`, `dependentSchemas`) apply to the check, but not to the conversion of cells. Each
//! part is visited once, regardless of the number of references to it: the work is linear in the schema.

use std::collections::{HashMap, HashSet};

use longshore_tabular::Numbers;
use serde_json::Value;

/// The allowed types of a column's cells. No type means text.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Kind {
    pub(super) text: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) boolean: bool,
    /// The format is `date`.
    pub(super) date: bool,
    /// The format is `date-time`.
    pub(super) date_time: bool,
}

impl Kind {
    /// Text only.
    pub(super) const TEXT: Self =
        Self { text: true, integer: false, number: false, boolean: false, date: false, date_time: false };

    /// Returns true if a cell can be a date, with or without a time.
    pub(super) fn has_dates(self) -> bool {
        self.date || self.date_time
    }

    /// Returns the numbers that a cell can be.
    pub(super) fn numbers(self) -> Option<Numbers> {
        match (self.text, self.number, self.integer) {
            (false, true, _) => Some(Numbers::All),
            (false, false, true) => Some(Numbers::Integers),
            _ => None,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            text: self.text || other.text,
            integer: self.integer || other.integer,
            number: self.number || other.number,
            boolean: self.boolean || other.boolean,
            date: self.date || other.date,
            date_time: self.date_time || other.date_time,
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
    /// Returns the kind of cell that a part describes.
    fn kind_of(&mut self, part: &'a Value) -> Kind {
        let is = |name: &str| part.get("format").is_some_and(|format| format == name);
        self.type_of(part).or(Kind { date: is("date"), date_time: is("date-time"), ..Kind::default() })
    }

    /// Returns the kind without the format; no kind while the part is being read, so that a part that refers to itself
    /// terminates.
    fn type_of(&mut self, part: &'a Value) -> Kind {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, Shape};

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
        let date = json!({"type": "string", "format": "date"});
        assert_eq!(kind(date.clone()), Kind { date: true, ..Kind::TEXT });
        assert_eq!(kind(json!({"anyOf": [date, {"type": "null"}]})), Kind { date: true, ..Kind::TEXT });
        assert_eq!(kind(json!({"type": "string", "format": "date-time"})), Kind { date_time: true, ..Kind::TEXT });
        assert_eq!(kind(json!({"type": "string", "format": "time"})), Kind::TEXT);
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
}
