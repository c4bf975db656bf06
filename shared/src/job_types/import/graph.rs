//! A schema as a graph: its parts, and which of them a value or its children are held against.
//!
//! Holds every part that compiling or checking can come to: from the root through every keyword that applies a schema,
//! and through references into the same document. A reference that cannot be followed here is refused, so that nothing is
//! compiled that was not counted.

use std::collections::{BTreeMap, HashMap};

use longshore_domain::text::shortened;
use serde_json::{Map, Value};

use super::cost::MAX_PARTS;
use super::refusal::Refusal;
use super::regex_weight;
use crate::problem::escape;

/// One part: an object or a boolean in a place where a schema stands.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    /// Steps of its own keywords for one value.
    pub(super) own: u64,
    /// Steps of its own keywords for each child of the value.
    pub(super) each: u64,
    /// Parts that the same value is held against.
    pub(super) in_place: Vec<usize>,
    /// Parts for one child each: `properties`, `prefixItems`.
    pub(super) named: Vec<usize>,
    /// Parts that any child may be held against.
    pub(super) every: Vec<usize>,
    /// Has `unevaluatedProperties` or `unevaluatedItems`.
    pub(super) unevaluated: bool,
    /// Where it stands: its holder, and the way from there.
    holder: Option<(usize, [&'a str; 2], Option<usize>)>,
    /// Where it stands, if a reference found it first.
    referred: Option<&'a str>,
}

/// The parts of a schema, the root being the first.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) parts: Vec<Part<'a>>,
    /// The weight of each different pattern, and a part that has it.
    pub(super) patterns: BTreeMap<&'a str, (u64, usize)>,
    /// Has `anyOf` or `oneOf`, whose errors list the errors of every branch.
    pub(super) branches: bool,
    values: Vec<&'a Value>,
    known: HashMap<*const Value, usize>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    root: &'a Value,
}

/// How a part is applied.
#[derive(Copy, Clone)]
enum Edge {
    InPlace,
    Named,
    Every,
}

impl<'a> Graph<'a> {
    /// Finds every part.
    ///
    /// # Errors
    /// A reference that leads out of the schema or nowhere, a part with an `$id`, too many parts.
    pub(super) fn from_schema(root: &'a Value) -> Result<Self, Refusal> {
        let mut graph = Self {
            parts: Vec::new(),
            patterns: BTreeMap::new(),
            branches: false,
            values: Vec::new(),
            known: HashMap::new(),
            anchors: HashMap::new(),
            root,
        };
        graph.find_anchors();
        graph.part(root);
        let mut next = 0;
        while let Some(value) = graph.values.get(next).copied() {
            if let Value::Object(members) = value {
                graph.expand(next, members)?;
            }
            if graph.parts.len() > MAX_PARTS {
                let detail = format!("the schema has more than {MAX_PARTS} parts; describe fewer properties");
                return Err(Refusal::complex("", detail));
            }
            next += 1;
        }
        Ok(graph)
    }

    /// The parts, each behind those that it applies in place.
    ///
    /// # Errors
    /// A part that applies itself to the same value, which has no end.
    pub(super) fn in_place_order(&self) -> Result<Vec<usize>, Refusal> {
        let (mut order, mut state) = (Vec::with_capacity(self.parts.len()), vec![State::New; self.parts.len()]);
        for start in 0..self.parts.len() {
            let mut path = vec![(start, 0)];
            while let Some((part, next)) = path.pop() {
                if next == 0 {
                    match state[part] {
                        State::Done => continue,
                        State::Open => return Err(Refusal::complex(&self.pointer(part), endless())),
                        State::New => state[part] = State::Open,
                    }
                }
                match self.parts[part].in_place.get(next) {
                    Some(other) => path.extend([(part, next + 1), (*other, 0)]),
                    None => {
                        state[part] = State::Done;
                        order.push(part);
                    }
                }
            }
        }
        Ok(order)
    }

    /// The JSON pointer of a part.
    pub(super) fn pointer(&self, part: usize) -> String {
        let mut segments = Vec::new();
        let (mut at, mut start) = (part, "");
        while let Some(found) = self.parts.get(at) {
            if let Some(referred) = found.referred {
                start = referred.trim_start_matches('#');
                break;
            }
            let Some((holder, names, index)) = found.holder else { break };
            segments.extend(index.map(|index| index.to_string()));
            let names = names.iter().rev().filter(|name| !name.is_empty());
            segments.extend(names.map(|name| escape(name)));
            at = holder;
        }
        segments.into_iter().rev().fold(start.to_owned(), |pointer, segment| format!("{pointer}/{segment}"))
    }

    fn part(&mut self, value: &'a Value) -> usize {
        let next = self.parts.len();
        let at = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if at == next {
            self.parts.push(Part { own: 1, ..Part::default() });
            self.values.push(value);
        }
        at
    }

    fn expand(&mut self, at: usize, members: &'a Map<String, Value>) -> Result<(), Refusal> {
        for (keyword, value) in members {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.refer(at, keyword, value)?,
                "allOf" | "anyOf" | "oneOf" => {
                    self.branches |= keyword != "allOf";
                    self.list(at, keyword, value, Edge::InPlace);
                }
                "not" | "if" | "then" | "else" => self.edge(at, [keyword, ""], None, value, Edge::InPlace),
                "dependentSchemas" | "dependencies" => self.map(at, keyword, value, Edge::InPlace),
                "properties" => self.map(at, keyword, value, Edge::Named),
                "prefixItems" => self.list(at, keyword, value, Edge::Named),
                "patternProperties" => {
                    self.map(at, keyword, value, Edge::Every);
                    for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                        // Asked again for `additionalProperties`.
                        self.parts[at].each = self.parts[at].each.saturating_add(2 * self.pattern(at, pattern));
                    }
                }
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
                    self.edge(at, [keyword, ""], None, value, Edge::Every);
                }
                "pattern" => {
                    let weight = value.as_str().map_or(0, |pattern| self.pattern(at, pattern));
                    self.parts[at].own = self.parts[at].own.saturating_add(weight);
                }
                "uniqueItems" => self.parts[at].each += 16,
                "$id" | "$schema" if at > 0 => return Err(Refusal::invalid(&self.pointer(at), embedded(keyword))),
                "enum" | "const" | "required" | "dependentRequired" | "type" | "format" => {
                    self.parts[at].own += values_in(value);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn pattern(&mut self, at: usize, pattern: &'a str) -> u64 {
        self.patterns.entry(pattern).or_insert_with(|| (regex_weight::weight(pattern), at)).0
    }

    fn map(&mut self, at: usize, keyword: &'a str, value: &'a Value, edge: Edge) {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.edge(at, [keyword, name], None, value, edge);
        }
    }

    fn list(&mut self, at: usize, keyword: &'a str, value: &'a Value, edge: Edge) {
        for (index, value) in value.as_array().into_iter().flatten().enumerate() {
            self.edge(at, [keyword, ""], Some(index), value, edge);
        }
    }

    fn edge(&mut self, at: usize, names: [&'a str; 2], index: Option<usize>, value: &'a Value, edge: Edge) {
        if !(value.is_object() || value.is_boolean()) {
            return;
        }
        let fresh = self.parts.len();
        let part = self.part(value);
        if part == fresh {
            self.parts[part].holder = Some((at, names, index));
        }
        self.parts[at].own += 1;
        let of = &mut self.parts[at];
        match edge {
            Edge::InPlace => of.in_place.push(part),
            Edge::Named => of.named.push(part),
            Edge::Every => of.every.push(part),
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

    /// The places that a reference names: a pointer into this schema, or an anchor in it.
    fn resolve(&self, reference: &str) -> Vec<&'a Value> {
        let id = self.root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#')).unwrap_or_default();
        let fragment = reference.strip_prefix(id).unwrap_or(reference);
        let Some(fragment) = fragment.strip_prefix('#').or((fragment.is_empty() && !id.is_empty()).then_some(""))
        else {
            return Vec::new();
        };
        let fragment = decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment).into_iter().collect();
        }
        self.anchors.get(fragment.as_str()).cloned().unwrap_or_default()
    }

    /// Anchors by their names, wherever they stand.
    fn find_anchors(&mut self) {
        let mut open = vec![self.root];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(values) => open.extend(values),
                Value::Object(members) => {
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                            self.anchors.entry(name).or_default().push(value);
                        }
                    }
                    open.extend(members.values());
                }
                _ => {}
            }
        }
    }
}

#[derive(Copy, Clone)]
enum State {
    New,
    Open,
    Done,
}

fn values_in(value: &Value) -> u64 {
    match value {
        Value::Array(values) => values.iter().map(values_in).sum::<u64>() + 1,
        Value::Object(members) => members.values().map(values_in).sum::<u64>() + 1,
        _ => 1,
    }
}

/// A fragment without its percent-encoding.
fn decoded(fragment: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(fragment.len()), fragment.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn endless() -> &'static str {
    "this part leads back to itself at the same place of the row, a check without an end; let a $ref to itself stand under \
     properties or items"
}

fn embedded(keyword: &str) -> String {
    format!(
        "{keyword} stands at the top of a schema only; put the definition under $defs and refer to it as #/$defs/NAME"
    )
}

fn unknown(reference: &str) -> String {
    let reference = shortened(reference, 60);
    format!(
        "{reference:?} names no part of this schema, and other documents are not fetched: put the definition under $defs \
         and write #/$defs/NAME"
    )
}
