//! The rules as tables: changes of a small document, and whether they break clients.

use serde_json::{Value, json};

use super::*;

/// Returns a document that uses every feature that is compared.
fn document() -> Value {
    json!({
        "info": { "version": "0.1.0" },
        "paths": { "/a": { "post": {
            "operationId": "a",
            "parameters": [
                { "name": "n", "in": "query", "schema": { "type": "integer", "minimum": 1, "maximum": 9 } },
                { "name": "If-Match", "in": "header", "schema": { "type": "string" } },
            ],
            "requestBody": { "required": true, "content": { "application/json": { "schema": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name"],
                "properties": {
                    "name": { "type": "string", "maxLength": 9, "pattern": "^x" },
                    "kind": { "$ref": "#/components/schemas/Kind" },
                    "size": { "type": ["integer", "null"] },
                },
            } } } },
            "responses": {
                "200": {
                    "headers": { "ETag": { "schema": { "type": "string" } } },
                    "content": { "application/json": { "schema": {
                        "type": "object",
                        "required": ["id", "kind"],
                        "properties": {
                            "id": { "type": "string", "format": "uuid" },
                            "kind": { "$ref": "#/components/schemas/Kind" },
                            "at": { "type": "string" },
                            "share": { "type": "number", "maximum": 1 },
                            "why": { "oneOf": [{ "$ref": "#/components/schemas/Why" }, { "type": "null" }] },
                            "many": { "type": "array", "items": { "type": "integer" } },
                        },
                    } } },
                },
                "404": { "content": { "application/problem+json": { "schema": { "type": "object" } } } },
            },
            "security": [{}],
        } } },
        "components": { "schemas": {
            "Kind": { "type": "string", "enum": ["a", "b"] },
            "Why": { "type": "object", "required": ["code"], "properties": { "code": { "type": "string" } } },
        } },
    })
}

const CALL: &str = "/paths/~1a/post";
const SENT: &str = "/paths/~1a/post/requestBody/content/application~1json/schema";
const RETURNED: &str = "/paths/~1a/post/responses/200/content/application~1json/schema";

/// Returns the document with a new value at a pointer. Null removes the value.
fn with(pointer: &str, value: Value) -> Value {
    let mut document = document();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/");
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(members), Value::Null) => drop(members.remove(&key).unwrap()),
        (Value::Object(members), value) => drop(members.insert(key, value)),
        (Value::Array(items), Value::Null) => drop(items.remove(key.parse().unwrap())),
        (Value::Array(items), value) => items.push(value),
        _ => panic!("nothing at {pointer}"),
    }
    document
}

fn breaks(pointer: &str, value: Value) -> bool {
    changes(&document(), &with(pointer, value)).iter().any(|change| change.is_breaking)
}

#[test]
fn these_changes_break_clients() {
    let call = |path: &str| format!("{CALL}{path}");
    let sent = |path: &str| format!("{SENT}{path}");
    let returned = |path: &str| format!("{RETURNED}{path}");
    for (pointer, value) in [
        ("/paths/~1a".into(), Value::Null),
        (CALL.to_owned(), Value::Null),
        (call("/operationId"), json!("b")),
        (call("/security"), Value::Null),
        (call("/parameters/0"), Value::Null),
        (call("/parameters/-"), json!({ "name": "m", "in": "query", "required": true, "schema": {} })),
        (call("/parameters/0/required"), json!(true)),
        (call("/parameters/0/schema/maximum"), json!(8)),
        (call("/parameters/0/schema/minimum"), json!(2)),
        (call("/parameters/0/schema/type"), json!("string")),
        (call("/requestBody"), Value::Null),
        (sent("/required"), json!(["name", "kind"])),
        (sent("/properties/size"), Value::Null),
        (sent("/properties/size/type"), json!("integer")),
        (sent("/properties/name/maxLength"), json!(8)),
        (sent("/properties/name/pattern"), json!("^y")),
        (sent("/properties/name/minLength"), json!(1)),
        (sent("/properties/name/enum"), json!(["x"])),
        ("/components/schemas/Kind/enum".into(), json!(["a"])),
        ("/components/schemas/Kind/enum".into(), json!(["a", "b", "c"])),
        (call("/responses/200"), Value::Null),
        (call("/responses/303"), json!({})),
        (call("/responses/200/headers/ETag"), Value::Null),
        (call("/responses/200/content/application~1json"), Value::Null),
        (returned("/properties/id"), Value::Null),
        (returned("/required"), json!(["id"])),
        (returned("/properties/id/type"), json!("integer")),
        (returned("/properties/id/type"), json!(["string", "null"])),
        (returned("/properties/id/format"), Value::Null),
        (returned("/properties/share/maximum"), Value::Null),
        (returned("/properties/kind"), json!({ "type": "string" })),
        (returned("/properties/many/items"), json!({ "type": "number" })),
        (returned("/properties/many/items"), Value::Null),
        (returned("/properties/why"), json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })),
        ("/components/schemas/Why/required".into(), json!([])),
    ] {
        assert!(breaks(&pointer, value.clone()), "{pointer} {value}");
    }
}

#[test]
fn these_changes_do_not_break_clients() {
    let call = |path: &str| format!("{CALL}{path}");
    let sent = |path: &str| format!("{SENT}{path}");
    let returned = |path: &str| format!("{RETURNED}{path}");
    for (pointer, value) in [
        ("/paths/~1b".into(), json!({ "get": {} })),
        (call("/summary"), json!("words")),
        (call("/parameters/-"), json!({ "name": "m", "in": "query", "schema": {} })),
        (call("/parameters/0/schema/maximum"), json!(10)),
        (call("/parameters/0/schema/minimum"), Value::Null),
        (call("/parameters/0/schema/type"), json!("number")),
        (sent("/required"), json!([])),
        (sent("/properties/more"), json!({ "type": "string" })),
        (sent("/properties/name/pattern"), Value::Null),
        (sent("/properties/kind"), json!({ "enum": ["a", "b", "c"] })),
        (sent("/additionalProperties"), Value::Null),
        (call("/responses/404"), Value::Null),
        (call("/responses/409"), json!({})),
        (call("/responses/200/content/text~1csv"), json!({})),
        (returned("/properties/more"), json!({ "type": "string" })),
        (returned("/required"), json!(["id", "kind", "at"])),
        (returned("/properties/share/maximum"), json!(0.5)),
        (returned("/properties/share/type"), json!("integer")),
        (returned("/properties/kind"), json!({ "type": "string", "enum": ["a"] })),
        (returned("/properties/why"), json!({ "$ref": "#/components/schemas/Why" })),
        (returned("/properties/at/maxLength"), json!(9)),
    ] {
        assert!(!breaks(&pointer, value.clone()), "{pointer} {value}");
    }
}

#[test]
fn a_pattern_that_lists_words_may_list_more() {
    let pointer = format!("{SENT}/properties/name/pattern");
    for (old, new, expected) in [
        ("^(a|b)$", "^(a|b|c)$", false),
        ("^(a|b)$", "^(b|a)$", false),
        ("^(a|b)$", "^(a)$", true),
        ("^(a|b)$", "^(a|b|c)", true),
        ("^(a|b.)$", "^(a|b.|c)$", true),
    ] {
        let changes = changes(&with(&pointer, json!(old)), &with(&pointer, json!(new)));
        assert_eq!(changes.iter().any(|change| change.is_breaking), expected, "{old} to {new}");
    }
}

#[test]
fn a_document_has_no_changes_from_itself() {
    assert_eq!(changes(&document(), &document()), []);
}

#[test]
fn a_change_is_printed_with_its_location() {
    let changes = changes(&document(), &with(&format!("{RETURNED}/properties/id"), Value::Null));
    let expected = "breaking    POST /a, response 200, application/json.id: the property was removed";
    assert_eq!(changes.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn only_a_new_leading_number_permits_breaking_changes() {
    let document = |version: &str| json!({ "info": { "version": version } });
    for (old, new, expected) in [
        ("0.1.0", "0.1.9", false),
        ("0.1.0", "0.2.0", true),
        ("0.9.0", "1.0.0", true),
        ("1.0.0", "1.9.0", false),
        ("1.9.0", "2.0.0", true),
        ("0.0.1", "0.0.2", true),
        ("1.0.0", "none", true),
    ] {
        assert_eq!(may_break(&document(old), &document(new)), expected, "{old} to {new}");
    }
}
