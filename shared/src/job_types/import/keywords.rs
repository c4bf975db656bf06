//! The keywords of a schema's part: some apply other schemas and become edges, the others cost steps.

use longshore_domain::text::shortened;
use serde_json::{Map, Value};

use super::graph::{Graph, Holder};
use super::refusal::Refusal;
use super::regex_weight;

/// Kind of an edge to a part.
#[derive(Copy, Clone)]
enum Edge {
    InPlace,
    Named,
    Every,
}

impl<'a> Graph<'a> {
    /// Follows the keywords of a part.
    pub(super) fn expand(&mut self, at: usize, members: &'a Map<String, Value>) -> Result<(), Refusal> {
        for (keyword, value) in members {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.refer(at, keyword, value)?,
                "$id" | "$schema" if at > 0 => return Err(Refusal::invalid(&self.pointer(at), embedded(keyword))),
                _ => {
                    self.apply(at, keyword, value);
                    self.count(at, keyword, value);
                }
            }
        }
        Ok(())
    }

    /// Adds the edges to the schemas that a keyword applies.
    fn apply(&mut self, at: usize, keyword: &'a str, value: &'a Value) {
        match keyword {
            "allOf" | "anyOf" | "oneOf" => {
                self.branches |= keyword != "allOf";
                self.list(at, keyword, value, Edge::InPlace);
            }
            "not" | "if" | "then" | "else" => self.single(at, keyword, value, Edge::InPlace),
            "dependentSchemas" | "dependencies" => self.map(at, keyword, value, Edge::InPlace),
            "properties" => self.map(at, keyword, value, Edge::Named),
            "prefixItems" => self.list(at, keyword, value, Edge::Named),
            "patternProperties" => self.map(at, keyword, value, Edge::Every),
            "items" if value.is_array() => self.list(at, keyword, value, Edge::Every),
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema" => {
                self.parts[at].unevaluated |= keyword.starts_with("unevaluated");
                self.single(at, keyword, value, Edge::Every);
            }
            _ => {}
        }
    }

    /// Counts the steps of a keyword's own check.
    fn count(&mut self, at: usize, keyword: &'a str, value: &'a Value) {
        match keyword {
            "patternProperties" => {
                for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                    // The patterns are matched again for `additionalProperties`.
                    self.parts[at].each = self.parts[at].each.saturating_add(2 * self.pattern(at, pattern));
                }
            }
            "pattern" => {
                let weight = value.as_str().map_or(0, |pattern| self.pattern(at, pattern));
                self.parts[at].own = self.parts[at].own.saturating_add(weight);
            }
            "uniqueItems" => self.parts[at].each += 16,
            "enum" | "const" | "required" | "dependentRequired" | "type" | "format" => {
                self.parts[at].own += values_in(value);
            }
            _ => {}
        }
    }

    fn pattern(&mut self, at: usize, pattern: &'a str) -> u64 {
        self.patterns.entry(pattern).or_insert_with(|| (regex_weight::weight(pattern), at)).0
    }

    fn single(&mut self, part: usize, keyword: &'a str, value: &'a Value, edge: Edge) {
        self.edge(Holder { part, names: [keyword, ""], index: None }, value, edge);
    }

    fn map(&mut self, part: usize, keyword: &'a str, value: &'a Value, edge: Edge) {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.edge(Holder { part, names: [keyword, name], index: None }, value, edge);
        }
    }

    fn list(&mut self, part: usize, keyword: &'a str, value: &'a Value, edge: Edge) {
        for (index, value) in value.as_array().into_iter().flatten().enumerate() {
            self.edge(Holder { part, names: [keyword, ""], index: Some(index) }, value, edge);
        }
    }

    fn edge(&mut self, holder: Holder<'a>, value: &'a Value, edge: Edge) {
        if !(value.is_object() || value.is_boolean()) {
            return;
        }
        let fresh = self.parts.len();
        let part = self.part(value);
        if part == fresh {
            self.parts[part].holder = Some(holder);
        }
        let parent = &mut self.parts[holder.part];
        parent.own += 1;
        match edge {
            Edge::InPlace => parent.in_place.push(part),
            Edge::Named => parent.named.push(part),
            Edge::Every => parent.every.push(part),
        }
    }

    fn refer(&mut self, at: usize, keyword: &str, value: &'a Value) -> Result<(), Refusal> {
        let Some(reference) = value.as_str() else { return Ok(()) };
        let targets = self.resolve(reference);
        if targets.is_empty() {
            let at = format!("{}/{keyword}", self.pointer(at));
            return Err(Refusal::invalid(&at, unknown(reference)));
        }
        for target in targets {
            let fresh = self.parts.len();
            let part = self.part(target);
            if part == fresh {
                self.parts[part].referred = Some(reference);
            }
            self.parts[at].own += 1;
            self.parts[at].in_place.push(part);
        }
        Ok(())
    }
}

fn values_in(value: &Value) -> u64 {
    match value {
        Value::Array(values) => values.iter().map(values_in).sum::<u64>() + 1,
        Value::Object(members) => members.values().map(values_in).sum::<u64>() + 1,
        _ => 1,
    }
}

fn embedded(keyword: &str) -> String {
    format!(
        "{keyword} is allowed only at the top of a schema; put the definition under $defs and refer to it as \
         #/$defs/NAME"
    )
}

fn unknown(reference: &str) -> String {
    let reference = shortened(reference, 60);
    format!(
        "{reference:?} refers to no part of this schema, and other documents are not fetched; put the definition under \
         $defs and refer to it as #/$defs/NAME"
    )
}
