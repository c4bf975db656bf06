//! Compares schemas. A request can become more permissive, and a response more restrictive. Limits of schemas are
//! number ranges, lengths, and enumerated values.

use serde_json::Value;

use crate::change::{Changes, Pair, members, resolve};

/// The direction in which a value is sent.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Direction {
    /// From the client to the API: every value that was accepted must stay accepted.
    Request,
    /// From the API to the client: every value must satisfy the old schema.
    Response,
}

impl Direction {
    /// Returns `(inner, outer)`: every value allowed by `inner` must be allowed by `outer`.
    fn inner_and_outer<T>(self, old: T, new: T) -> (T, T) {
        match self {
            Self::Request => (old, new),
            Self::Response => (new, old),
        }
    }
}

/// Maximum depth of the comparison, because schemas can be recursive. Deeper parts are not compared.
const MAX_DEPTH: usize = 32;

/// Adds every difference between two schemas to `changes`.
pub(crate) fn compare<'a>(
    documents: &Pair<'a>,
    direction: Direction,
    location: &str,
    schemas: Pair<'a>,
    changes: &mut Changes,
) {
    Comparison { documents, direction, depth: 0 }.compare(location, schemas, changes);
}

#[derive(Copy, Clone)]
struct Comparison<'a, 'p> {
    documents: &'p Pair<'a>,
    direction: Direction,
    depth: usize,
}

impl<'a> Comparison<'a, '_> {
    fn compare(self, location: &str, schemas: Pair<'a>, changes: &mut Changes) {
        if self.depth > MAX_DEPTH {
            return;
        }
        let deeper = Self { depth: self.depth + 1, ..self };
        let old = Alternatives::new(self.documents.old, schemas.old);
        let new = Alternatives::new(self.documents.new, schemas.new);
        let (inner, outer) = self.direction.inner_and_outer(old.is_nullable, new.is_nullable);
        if inner && !outer {
            let description = match self.direction {
                Direction::Request => "null is no longer accepted",
                Direction::Response => "it became nullable",
            };
            changes.breaking(location, description);
        }
        match (old.schemas.as_slice(), new.schemas.as_slice()) {
            (&[old], &[new]) => deeper.single(location, Pair { old, new }, changes),
            (old, new) => deeper.several(location, old, new, changes),
        }
    }

    /// Compares schemas with several alternatives: each alternative of one schema must fit an alternative of the other.
    fn several(self, location: &str, old: &[&'a Value], new: &[&'a Value], changes: &mut Changes) {
        let (inner, outer) = self.direction.inner_and_outer(old, new);
        let fits = |inner: &&'a Value| {
            outer.iter().any(|outer| {
                let (old, new) = self.direction.inner_and_outer(*inner, *outer);
                let mut differences = Changes::default();
                self.single(location, Pair { old, new }, &mut differences);
                !differences.0.iter().any(|change| change.is_breaking)
            })
        };
        let unmatched = inner.iter().filter(|inner| !fits(inner)).count();
        if unmatched > 0 {
            changes.breaking(location, format!("{unmatched} of its alternatives do not fit the other document"));
        }
    }

    /// Compares schemas without alternatives.
    fn single(self, location: &str, Pair { old, new }: Pair<'a>, changes: &mut Changes) {
        let (inner, outer) = self.direction.inner_and_outer(old, new);
        if !types_fit(inner, outer) {
            changes.breaking(location, format!("its type changed from {} to {}", old["type"], new["type"]));
            return;
        }
        for violation in violations(inner, outer) {
            let effect = match self.direction {
                Direction::Request => "it accepts fewer values",
                Direction::Response => "it can have more values",
            };
            changes.breaking(location, format!("{effect}: {violation}"));
        }
        self.properties(location, Pair { old, new }, changes);
        self.unnamed_parts(location, Pair { old, new }, changes);
    }

    fn properties(self, location: &str, Pair { old, new }: Pair<'a>, changes: &mut Changes) {
        for (name, schema) in members(&old["properties"]) {
            let location = format!("{location}.{name}");
            match new["properties"].get(name) {
                Some(new) => self.compare(&location, Pair { old: schema, new }, changes),
                None => changes.breaking(&location, "the property was removed"),
            }
        }
        for (name, _) in members(&new["properties"]) {
            if old["properties"].get(name).is_none() {
                changes.compatible(&format!("{location}.{name}"), "the property was added");
            }
        }
        let (before, after) = (required(old), required(new));
        let (names, description) = match self.direction {
            Direction::Request => (difference(&after, &before), "the property became required"),
            Direction::Response => (difference(&before, &after), "the property became optional"),
        };
        for name in names {
            changes.breaking(&format!("{location}.{name}"), description);
        }
    }

    /// Compares array elements, and properties that the schema does not name.
    fn unnamed_parts(self, location: &str, Pair { old, new }: Pair<'a>, changes: &mut Changes) {
        for (keyword, part) in [("items", "[]"), ("additionalProperties", ".*")] {
            let location = format!("{location}{part}");
            let (before, after) = (&old[keyword], &new[keyword]);
            let (inner, outer) = self.direction.inner_and_outer(before, after);
            match (inner.is_object(), outer.is_object()) {
                (true, true) => self.compare(&location, Pair { old: before, new: after }, changes),
                (false, true) => changes.breaking(&location, "only one of the documents has a schema"),
                _ if self.direction == Direction::Request && *after == false && *before != false => {
                    changes.breaking(&location, "other properties are no longer accepted");
                }
                _ => {}
            }
        }
    }
}

/// The alternatives of a schema, without `null`.
struct Alternatives<'a> {
    is_nullable: bool,
    schemas: Vec<&'a Value>,
}

impl<'a> Alternatives<'a> {
    fn new(document: &'a Value, schema: &'a Value) -> Self {
        let schema = resolve(document, schema);
        let Some(alternatives) = ["oneOf", "anyOf"].into_iter().find_map(|name| schema[name].as_array()) else {
            let types = types(schema);
            let is_nullable = types.is_empty() || types.contains(&"null");
            return Self { is_nullable, schemas: if types == ["null"] { Vec::new() } else { vec![schema] } };
        };
        let mut merged = Self { is_nullable: false, schemas: Vec::new() };
        for alternative in alternatives.iter().map(|alternative| Self::new(document, alternative)) {
            merged.is_nullable |= alternative.is_nullable;
            merged.schemas.extend(alternative.schemas);
        }
        merged
    }
}

/// Returns the types of a schema. It is empty if the schema accepts any type.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if `outer` accepts all types of `inner`, apart from null.
fn types_fit(inner: &Value, outer: &Value) -> bool {
    let (inner, outer) = (types(inner), types(outer));
    let is_accepted = |name: &&str| outer.contains(name) || (*name == "integer" && outer.contains(&"number"));
    let mut names = inner.iter().filter(|name| **name != "null");
    outer.is_empty() || (!inner.is_empty() && names.all(is_accepted))
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the names that only the first list contains.
fn difference<'a>(names: &[&'a str], others: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| !others.contains(name)).collect()
}

/// Keywords of upper limits.
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords of lower limits.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

/// Keywords that are neither upper nor lower limits: any difference counts.
const OPAQUE: [&str; 4] = ["pattern", "format", "multipleOf", "uniqueItems"];

/// Lists the reasons why `outer` does not accept every value that `inner` accepts.
fn violations(inner: &Value, outer: &Value) -> Vec<String> {
    let number = |schema: &Value, name: &str| schema[name].as_f64();
    let is_above = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner > outer,
    };
    let is_below = |name: &&str| match (number(inner, name), number(outer, name)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(inner), Some(outer)) => inner < outer,
    };
    let differs = |name: &&str| {
        !outer[*name].is_null() && inner[*name] != outer[*name] && !(*name == "pattern" && has_more_words(inner, outer))
    };
    let limits = UPPER.into_iter().filter(is_above).chain(LOWER.into_iter().filter(is_below));
    let names = limits.chain(OPAQUE.into_iter().filter(differs));
    let reasons = names.map(|name| format!("{name} {} and {}", inner[name], outer[name]));
    reasons.chain(extra_values(inner, outer)).collect()
}

/// Returns true if both patterns are lists of words, such as `^(a|b)$`, and `outer` has all words of `inner`.
fn has_more_words(inner: &Value, outer: &Value) -> bool {
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let words = |schema: &'_ Value| -> Option<Vec<String>> {
        let list = schema["pattern"].as_str()?.strip_prefix("^(")?.strip_suffix(")$")?;
        list.split('|').all(|word| is_word(&word)).then(|| list.split('|').map(str::to_owned).collect())
    };
    let (inner, outer) = (words(inner), words(outer));
    inner.zip(outer).is_some_and(|(inner, outer)| inner.iter().all(|word| outer.contains(word)))
}

/// Returns a reason if `inner` accepts a value that `outer` does not enumerate.
fn extra_values(inner: &Value, outer: &Value) -> Option<String> {
    let allowed = values(outer)?;
    match values(inner) {
        None => Some("one is an enum, and the other is not".to_owned()),
        Some(values) => {
            let extra: Vec<_> = values.iter().filter(|value| !allowed.contains(value)).map(Value::to_string).collect();
            (!extra.is_empty()).then(|| format!("only one has the value {}", extra.join(", ")))
        }
    }
}

/// Returns the values that a schema enumerates with `const` or `enum`, or `None` if it enumerates none.
fn values(schema: &Value) -> Option<Vec<Value>> {
    match schema.get("const") {
        Some(value) => Some(vec![value.clone()]),
        None => schema["enum"].as_array().cloned(),
    }
}
