//! Compares schemas: a request may become more permissive, and a response more restrictive.

use serde_json::Value;

use crate::change::Found;
use crate::limits::not_within;
use crate::pair::{Pair, members, resolved};

/// The sender of a value.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Direction {
    /// The client: every value that was accepted must stay accepted.
    Sent,
    /// The API: every value must stay within the old schema.
    Answered,
}

impl Direction {
    /// Returns `(inner, outer)`: every value allowed by `inner` must be allowed by `outer`.
    fn inner_and_outer<T>(self, old: T, new: T) -> (T, T) {
        match self {
            Self::Sent => (old, new),
            Self::Answered => (new, old),
        }
    }
}

/// Maximum depth of comparison, which guards against recursive schemas. Deeper parts are not compared.
const DEEPEST: usize = 32;

/// Lists every difference between two schemas of one place.
pub(crate) fn compare<'a>(
    pair: &Pair<'a>,
    direction: Direction,
    place: &str,
    (old, new): (&'a Value, &'a Value),
    found: &mut Found,
) {
    Comparison { pair, direction, depth: 0 }.compare(place, old, new, found);
}

#[derive(Copy, Clone)]
struct Comparison<'a, 'p> {
    pair: &'p Pair<'a>,
    direction: Direction,
    depth: usize,
}

impl<'a> Comparison<'a, '_> {
    fn compare(self, place: &str, old: &'a Value, new: &'a Value, found: &mut Found) {
        if self.depth > DEEPEST {
            return;
        }
        let deeper = Self { depth: self.depth + 1, ..self };
        let (old, new) = (Forms::new(self.pair.old, old), Forms::new(self.pair.new, new));
        let (inner, outer) = self.direction.inner_and_outer(old.or_null, new.or_null);
        if inner && !outer {
            let what = if self.direction == Direction::Sent { "null is refused now" } else { "it may be null now" };
            found.breaking(place, what);
        }
        match (old.forms.as_slice(), new.forms.as_slice()) {
            ([old], [new]) => deeper.one(place, old, new, found),
            (olds, news) => deeper.several(place, olds, news, found),
        }
    }

    /// Checks that each alternative of one schema fits an alternative of the other.
    fn several(self, place: &str, olds: &[&'a Value], news: &[&'a Value], found: &mut Found) {
        let (inner, outer) = self.direction.inner_and_outer(olds, news);
        let fits = |form: &&'a Value| {
            outer.iter().any(|other| {
                let (old, new) = self.direction.inner_and_outer(*form, *other);
                let mut differences = Found::default();
                self.one(place, old, new, &mut differences);
                !differences.0.iter().any(|change| change.is_breaking)
            })
        };
        let lost = inner.iter().filter(|form| !fits(form)).count();
        if lost > 0 {
            found.breaking(place, format!("{lost} of its forms fit none of the other document's"));
        }
    }

    fn one(self, place: &str, old: &'a Value, new: &'a Value, found: &mut Found) {
        let (inner, outer) = self.direction.inner_and_outer(old, new);
        if !types_within(inner, outer) {
            found.breaking(place, format!("its type was {} and is {}", old["type"], new["type"]));
            return;
        }
        for limit in not_within(inner, outer) {
            let what = if self.direction == Direction::Sent { "allows less" } else { "promises less" };
            found.breaking(place, format!("it {what}: {limit}"));
        }
        self.properties(place, old, new, found);
        self.parts(place, (old, new), found);
    }

    fn properties(self, place: &str, old: &'a Value, new: &'a Value, found: &mut Found) {
        for (name, schema) in members(&old["properties"]) {
            let place = format!("{place}.{name}");
            match new["properties"].get(name) {
                Some(new) => self.compare(&place, schema, new, found),
                None => found.breaking(&place, "the property is gone"),
            }
        }
        for (name, _) in members(&new["properties"]) {
            if old["properties"].get(name).is_none() {
                found.fine(&format!("{place}.{name}"), "the property is new");
            }
        }
        let (before, after) = (required(old), required(new));
        let (lost, what) = match self.direction {
            Direction::Sent => (missing(&after, &before), "the property is required now"),
            Direction::Answered => (missing(&before, &after), "the property may be missing now"),
        };
        for name in lost {
            found.breaking(&format!("{place}.{name}"), what);
        }
    }

    /// Compares array elements, and properties that the schema does not name.
    fn parts(self, place: &str, (old, new): (&'a Value, &'a Value), found: &mut Found) {
        for (keyword, part) in [("items", "[]"), ("additionalProperties", ".*")] {
            let place = format!("{place}{part}");
            let (before, after) = (&old[keyword], &new[keyword]);
            let (inner, outer) = self.direction.inner_and_outer(before, after);
            match (inner.is_object(), outer.is_object()) {
                (true, true) => self.compare(&place, before, after, found),
                (false, true) => {
                    found.breaking(&place, "there was no schema in one document, and there is in the other")
                }
                _ if self.direction == Direction::Sent && *after == false && *before != false => {
                    found.breaking(&place, "other properties are refused now");
                }
                _ => {}
            }
        }
    }
}

/// The alternatives of a schema, `null` apart.
struct Forms<'a> {
    or_null: bool,
    forms: Vec<&'a Value>,
}

impl<'a> Forms<'a> {
    fn new(document: &'a Value, schema: &'a Value) -> Self {
        let schema = resolved(document, schema);
        let several = ["oneOf", "anyOf"].into_iter().find_map(|name| schema[name].as_array());
        let Some(several) = several else {
            let types = types(schema);
            let or_null = types.is_empty() || types.contains(&"null");
            return Self { or_null, forms: if types == ["null"] { Vec::new() } else { vec![schema] } };
        };
        several.iter().map(|form| Self::new(document, form)).fold(
            Self { or_null: false, forms: Vec::new() },
            |mut all, one| {
                all.or_null |= one.or_null;
                all.forms.extend(one.forms);
                all
            },
        )
    }
}

/// The types of a schema; empty if it allows any type.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn types_within(inner: &Value, outer: &Value) -> bool {
    let (inner, outer) = (types(inner), types(outer));
    let has = |name: &&str| outer.contains(name) || (*name == "integer" && outer.contains(&"number"));
    let mut named = inner.iter().filter(|name| **name != "null");
    outer.is_empty() || (!inner.is_empty() && named.all(has))
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn missing<'a>(from: &[&'a str], of: &[&'a str]) -> Vec<&'a str> {
    from.iter().copied().filter(|name| !of.contains(name)).collect()
}
