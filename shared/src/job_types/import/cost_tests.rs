//! Hostile schemas of every shape: accepted or refused by counting alone, and their costs.

use serde_json::{Value, json};

use super::{MAX_STEPS, schema_cost};
use crate::job_types::import::graph::MAX_PARTS;

fn steps(schema: Value) -> Result<u64, (String, String)> {
    schema_cost(&schema).map(|cost| cost.steps).map_err(|refusal| {
        let error = crate::field_error::FieldError::from(refusal);
        assert!(error.detail.chars().count() <= 501, "{}", error.detail);
        (error.pointer, error.code)
    })
}

fn refused(schema: Value, pointer: &str, code: &str) {
    assert_eq!(steps(schema), Err((format!("/options/schema{pointer}"), code.to_owned())));
}

/// Two references at each of `levels` levels: 2^levels paths to the last one.
fn doubling(levels: usize, apply: fn(Value) -> Value) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), apply(json!([next.clone(), next])));
    }
    defs.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

#[test]
fn a_schema_that_applies_itself_to_the_same_value_is_refused() {
    let itself = json!({"$ref": "#"});
    for parts in [1, 2, 2_000] {
        refused(json!({"allOf": vec![itself.clone(); parts]}), "", "schema_too_complex");
    }
    refused(json!({"allOf": vec![itself.clone(); 5_000]}), "", "schema_too_complex");
    refused(itself, "", "schema_too_complex");
    let round = json!({"properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}});
    refused(round, "/$defs/a", "schema_too_complex");
}

#[test]
fn many_paths_to_one_part_are_counted_without_following_each() {
    for apply in [
        (|parts| json!({"allOf": parts})) as fn(Value) -> Value,
        |parts| json!({"anyOf": parts}),
        |parts| json!({"oneOf": parts}),
        |parts| json!({"properties": {"p": {"allOf": parts}}}),
        |parts| json!({"items": {"anyOf": parts}}),
        |parts| json!({"if": parts[0], "then": parts[1]}),
        |parts| json!({"not": {"allOf": parts}}),
        |parts| json!({"dependentSchemas": {"a": parts[0], "b": parts[1]}}),
        |parts| json!({"contains": parts[0], "items": parts[1]}),
        |parts| json!({"allOf": [parts[0]], "unevaluatedProperties": false}),
        |parts| json!({"allOf": [parts[0]], "unevaluatedItems": false}),
    ] {
        assert!(steps(doubling(3, apply)).unwrap() >= 16, "{}", doubling(3, apply));
        refused(doubling(30, apply), "", "schema_too_complex");
        refused(doubling(300, apply), "", "schema_too_complex");
    }
}

#[test]
fn a_schema_may_refer_to_itself_once_below_a_property_but_not_twice() {
    let tree =
        json!({"properties": {"name": {"type": "string"}, "children": {"items": {"$ref": "#"}}}, "required": ["name"]});
    assert!(steps(tree).unwrap() < 2_000);
    let list = json!({"$ref": "#/$defs/n", "$defs": {"n": {"$dynamicAnchor": "n", "properties": {"next": {"$dynamicRef": "#n"}}}}});
    assert!(steps(list).unwrap() < 2_000);
    let twice = json!({"properties": {"p": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    refused(twice, "", "schema_too_complex");
    // Each child is checked against one of them.
    let binary = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    assert!(steps(binary).unwrap() < 2_000);
}

#[test]
fn a_too_long_chain_of_references_is_refused() {
    let chain = |length: usize| {
        let defs = (0..length).map(|n| (format!("c{n}"), json!({"$ref": format!("#/$defs/c{}", n + 1)})));
        let defs: serde_json::Map<_, _> = defs.chain([(format!("c{length}"), json!({}))]).collect();
        json!({"$ref": "#/$defs/c0", "$defs": defs})
    };
    assert!(steps(chain(900)).is_ok());
    refused(chain(1_100), "", "schema_too_complex");
    refused(chain(4_900), "", "schema_too_complex");
}

#[test]
fn a_wide_schema_is_accepted_up_to_a_number_of_parts() {
    let wide = |columns: usize| {
        let names: Vec<_> = (0..columns).map(|n| format!("c{n}")).collect();
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| (name.clone(), json!({"type": "string", "enum": ["a", "b", "c"]}))).collect();
        json!({"properties": properties, "required": names, "additionalProperties": false})
    };
    let steps_of = steps(wide(1_000)).unwrap();
    assert!((2_000..3_000).contains(&steps_of), "{steps_of}");
    refused(wide(MAX_PARTS), "", "schema_too_complex");
}

#[test]
fn patterns_are_weighed_before_they_are_compiled() {
    let pattern = |pattern: &str| json!({"properties": {"a/b": {"pattern": pattern}}});
    assert!(steps(pattern("^[a-z]{1,64}$")).unwrap() < 400);
    refused(pattern("((a{100}){100}){100}"), "/properties/a~1b", "schema_too_complex");
    let named = json!({"patternProperties": {"(\\p{L}{100}){100}": true}});
    refused(named, "", "schema_too_complex");
    let many = |count: usize, text: &str| {
        let parts: Vec<_> = (0..count).map(|n| json!({"pattern": format!("{text}{n}")})).collect();
        json!({"items": {"anyOf": parts}})
    };
    assert!(steps(many(200, "a")).is_ok());
    refused(many(201, "a"), "", "schema_too_complex");
    refused(many(20, "a{9000}"), "", "schema_too_complex");
    // A value is checked against the pattern of its own column only, but all patterns are compiled.
    let columns: serde_json::Map<_, _> =
        (0..12).map(|n| (format!("c{n}"), json!({"pattern": format!("a{{9000}}{n}")}))).collect();
    refused(json!({"properties": columns}), "", "schema_too_complex");
    let same = json!({"prefixItems": vec![json!({"pattern": "a{9000}"}); 500]});
    assert!(steps(same).is_ok(), "a pattern that is written twice is compiled once");
}

#[test]
fn references_stay_within_the_schema() {
    for (reference, pointer) in [
        ("https://example.com/row.json", "/properties/p/$ref"),
        ("https://json-schema.org/draft/2020-12/schema", "/properties/p/$ref"),
        ("row.json#/x", "/properties/p/$ref"),
        ("#/$defs/none", "/properties/p/$ref"),
        ("#none", "/properties/p/$ref"),
    ] {
        refused(json!({"properties": {"p": {"$ref": reference}}}), pointer, "invalid_schema");
    }
    for reference in ["#/$defs/a~1%20b", "#anchor", "https://x.example/row#/$defs/c", "https://x.example/row#anchor"] {
        let defs = json!({"a/ b": {"const": 1}, "c": {"$anchor": "anchor", "enum": [1]}});
        let schema = json!({"$id": "https://x.example/row", "properties": {"p": {"$ref": reference}}, "$defs": defs});
        assert!(steps(schema).unwrap() >= 4, "{reference}");
    }
    let embedded = json!({"properties": {"p": {"$id": "https://x.example/p", "type": "string"}}});
    refused(embedded, "/properties/p", "invalid_schema");
    assert!(steps(json!({"properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}}})).is_ok());
}

#[test]
fn a_part_is_identified_by_its_pointer() {
    let deep = json!({"allOf": [{}, {"properties": {"a": {"prefixItems": [{"pattern": "a{99999}"}]}}}]});
    refused(deep, "/allOf/1/properties/a/prefixItems/0", "schema_too_complex");
}

#[test]
fn the_limit_is_far_above_the_cost_of_the_largest_flat_schema() {
    let values: Vec<_> = (0..9_000).map(|n| json!(format!("{n:04}"))).collect();
    assert!(steps(json!({"properties": {"p": {"enum": values}}})).unwrap() * 10 < MAX_STEPS);
}
