//! A schema as a graph: its parts, and the edges to the parts that a value or its children are checked against.
//!
//! Contains every part that compiling or checking can reach: from the root through every keyword that applies a
//! schema, and through references into the same document. A reference that cannot be followed here is refused, so
//! that every compiled part was counted.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::refusal::Refusal;
use crate::field_error::escape;

/// Maximum number of a schema's parts: objects and booleans that rows are checked against.
pub(super) const MAX_PARTS: usize = 5_000;

/// One part: an object or a boolean in the position of a schema.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    /// Steps of its own keywords for one value.
    pub(super) own: u64,
    /// Steps of its own keywords for each child of the value.
    pub(super) each: u64,
    /// Parts that the same value is checked against.
    pub(super) in_place: Vec<usize>,
    /// Parts that apply to one child each: `properties`, `prefixItems`.
    pub(super) named: Vec<usize>,
    /// Parts that any child can be checked against.
    pub(super) every: Vec<usize>,
    /// True if the part has `unevaluatedProperties` or `unevaluatedItems`.
    pub(super) unevaluated: bool,
    /// Position of the part.
    pub(super) holder: Option<Holder<'a>>,
    /// Reference to the part, if the part was found by a reference first.
    pub(super) referred: Option<&'a str>,
}

/// Position of a part: its parent, and the path from there.
#[derive(Copy, Clone, Debug)]
pub(super) struct Holder<'a> {
    pub(super) part: usize,
    /// A keyword, and a name below it or nothing.
    pub(super) names: [&'a str; 2],
    pub(super) index: Option<usize>,
}

/// The parts of a schema; the root is the first.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub(super) parts: Vec<Part<'a>>,
    /// The weight of each different pattern, and a part that has it.
    pub(super) patterns: BTreeMap<&'a str, (u64, usize)>,
    /// True if the schema has `anyOf` or `oneOf`, whose errors list the errors of every branch.
    pub(super) branches: bool,
    values: Vec<&'a Value>,
    known: HashMap<*const Value, usize>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    root: &'a Value,
}

impl<'a> Graph<'a> {
    /// Finds every part.
    ///
    /// # Errors
    /// A reference to another document or without a target, a part with an `$id`, too many parts.
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

    /// Returns the parts, each after those that it applies in place.
    ///
    /// # Errors
    /// A part that applies itself to the same value, which never ends.
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

    /// Returns the JSON pointer of a part.
    pub(super) fn pointer(&self, part: usize) -> String {
        let mut segments = Vec::new();
        let (mut at, mut start) = (part, "");
        while let Some(current) = self.parts.get(at) {
            if let Some(referred) = current.referred {
                start = referred.trim_start_matches('#');
                break;
            }
            let Some(Holder { part, names, index }) = current.holder else { break };
            segments.extend(index.map(|index| index.to_string()));
            let names = names.iter().rev().filter(|name| !name.is_empty());
            segments.extend(names.map(|name| escape(name)));
            at = part;
        }
        segments.into_iter().rev().fold(start.to_owned(), |pointer, segment| format!("{pointer}/{segment}"))
    }

    pub(super) fn part(&mut self, value: &'a Value) -> usize {
        let next = self.parts.len();
        let at = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if at == next {
            self.parts.push(Part { own: 1, ..Part::default() });
            self.values.push(value);
        }
        at
    }

    /// Returns the targets of a reference: a pointer into this schema, or an anchor in it.
    pub(super) fn resolve(&self, reference: &str) -> Vec<&'a Value> {
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

    /// Collects anchors by name, at any position.
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

/// Removes the percent-encoding of a fragment.
fn decoded(fragment: &str) -> String {
    let (mut bytes, mut remaining) = (Vec::with_capacity(fragment.len()), fragment.as_bytes());
    while let Some((first, tail)) = remaining.split_first() {
        let hex = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                remaining = &tail[2..];
            }
            None => {
                bytes.push(*first);
                remaining = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn endless() -> &'static str {
    "this part applies itself to the same value, which would never end; a part may refer to itself only under \
     properties or items"
}
