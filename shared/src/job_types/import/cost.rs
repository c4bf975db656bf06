//! The cost of checking rows against a schema, computed before the schema is compiled.
//!
//! A schema is a graph: with `$ref`, two kilobytes can describe 2³⁰ checks of one value, and a schema that refers to
//! itself without descending into a property never ends. So the steps of the worst row are counted on the graph:
//! `steps(schema, height) = own + Σ steps(in place, height) + steps(children, height - 1)`, for every height that a row
//! can have. Checking a row takes at most that many steps for each of its values. Some keywords of a schema's part
//! apply other schemas and become edges of the graph, the others cost steps.
//!
//! The count follows the validator: a schema with `unevaluated…` visits every schema that applies to the same value
//! once more, to find the evaluated properties. Memory and time of the count itself are bounded by
//! [`MAX_PARTS`](super::graph::MAX_PARTS) times [`MAX_HEIGHT`].

use longshore_domain::text::shortened;
use serde_json::{Map, Value};

use super::graph::{Graph, Holder, Part};
use super::refusal::Refusal;
use super::regex_weight;

/// Maximum number of steps for checking one value.
const MAX_STEPS: u64 = 100_000;
/// Maximum depth of nested checks; bounds the stack.
const MAX_NESTING: u64 = 1_000;
/// Maximum height of a row: serde_json reads no value that is nested deeper.
const MAX_HEIGHT: usize = 128;
/// Maximum weight of one pattern, and of all of a schema's patterns; see [`super::regex_weight`].
const MAX_PATTERN_WEIGHT: u64 = 20_000;
const MAX_PATTERNS_WEIGHT: u64 = 100_000;
/// Maximum number of different patterns: each keeps its own cache while rows are checked.
const MAX_PATTERNS: usize = 200;

/// The work of checking a part against a value of some height.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct Work {
    /// Steps for each value of the row.
    steps: u64,
    /// Steps for finding the properties that the part has evaluated.
    marking: u64,
    nesting: u64,
}

/// The cost of checking rows against a schema.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct Cost {
    /// Maximum number of steps for each value of a row.
    pub(super) steps: u64,
    /// True if an error can contain the errors of many parts.
    pub(super) branches: bool,
}

/// Returns the cost of a schema.
///
/// # Errors
/// The part of the schema that takes more work than a row may cost, or never ends.
pub(super) fn schema_cost(schema: &Value) -> Result<Cost, Refusal> {
    let graph = Graph::from_schema(schema)?;
    check_patterns(&graph)?;
    let order = graph.in_place_order()?;
    let mut below = vec![Work::default(); graph.parts.len()];
    for height in 0..=MAX_HEIGHT {
        let mut at = vec![Work::default(); graph.parts.len()];
        for part in &order {
            at[*part] = work(&graph.parts[*part], &at, (height > 0).then_some(&below));
        }
        let root = at.first().copied().unwrap_or_default();
        if root.steps > MAX_STEPS {
            return Err(Refusal::complex("", too_many_steps()));
        }
        if root.nesting > MAX_NESTING {
            return Err(Refusal::complex("", too_nested()));
        }
        if at == below {
            break;
        }
        below = at;
    }
    Ok(Cost { steps: below.first().map_or(1, |root| root.steps), branches: graph.branches })
}

fn work(part: &Part<'_>, at: &[Work], below: Option<&Vec<Work>>) -> Work {
    let child = |child: &usize| below.map_or(Work::default(), |below| below[*child]);
    let named = part.named.iter().map(child);
    let every = || part.every.iter().map(child);
    let largest = named.clone().map(|work| work.steps).max().unwrap_or(0);
    let children = every().fold(largest, |sum, work| sum.saturating_add(work.steps));
    let own = part.own.saturating_add(if below.is_some() { part.each } else { 0 });
    let beside =
        |of: fn(&Work) -> u64| part.in_place.iter().fold(0_u64, |sum, other| sum.saturating_add(of(&at[*other])));
    let plain = own.saturating_add(beside(|work| work.steps)).saturating_add(children);
    let marking = plain.saturating_add(beside(|work| work.marking));
    let steps = if part.unevaluated { plain.saturating_add(marking) } else { plain };
    let deepest =
        part.in_place.iter().map(|other| at[*other].nesting).chain(named.chain(every()).map(|work| work.nesting));
    Work { steps, marking, nesting: 1 + deepest.max().unwrap_or(0) }
}

fn check_patterns(graph: &Graph<'_>) -> Result<(), Refusal> {
    let mut sum = 0_u64;
    for (pattern, (weight, part)) in &graph.patterns {
        if *weight > MAX_PATTERN_WEIGHT {
            let detail = format!(
                "the pattern {} is too large once its repetitions are expanded; use smaller counts, or maxLength",
                shortened(pattern, 60)
            );
            return Err(Refusal::complex(&graph.pointer(*part), detail));
        }
        sum = sum.saturating_add(*weight);
    }
    if sum > MAX_PATTERNS_WEIGHT || graph.patterns.len() > MAX_PATTERNS {
        let detail = format!(
            "the {} patterns of the schema are too large in total; use fewer patterns (up to {MAX_PATTERNS}), with \
             smaller counts",
            graph.patterns.len()
        );
        return Err(Refusal::complex("", detail));
    }
    Ok(())
}

fn too_many_steps() -> String {
    format!(
        "checking one value against this schema can take more than {MAX_STEPS} steps; reduce the $ref, allOf, anyOf \
         and oneOf that lead to the same part, and use fewer unevaluatedProperties"
    )
}

fn too_nested() -> String {
    format!("the schema nests more than {MAX_NESTING} parts inside each other; use shorter chains of $ref and allOf")
}

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

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
