//! The rules as a table: a change of a small document, and the expected verdict.

use serde_json::{Value, json};

use super::*;

/// A document that uses every feature that is compared.
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
const ANSWERED: &str = "/paths/~1a/post/responses/200/content/application~1json/schema";

/// Returns the document with the value at a pointer replaced; null removes it.
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
fn what_breaks_clients() {
    let call = |rest: &str| format!("{CALL}{rest}");
    let sent = |rest: &str| format!("{SENT}{rest}");
    let answered = |rest: &str| format!("{ANSWERED}{rest}");
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
        (answered("/properties/id"), Value::Null),
        (answered("/required"), json!(["id"])),
        (answered("/properties/id/type"), json!("integer")),
        (answered("/properties/id/type"), json!(["string", "null"])),
        (answered("/properties/id/format"), Value::Null),
        (answered("/properties/share/maximum"), Value::Null),
        (answered("/properties/kind"), json!({ "type": "string" })),
        (answered("/properties/many/items"), json!({ "type": "number" })),
        (answered("/properties/many/items"), Value::Null),
        (answered("/properties/why"), json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })),
        ("/components/schemas/Why/required".into(), json!([])),
    ] {
        assert!(breaks(&pointer, value.clone()), "{pointer} {value}");
    }
}

#[test]
fn what_does_not() {
    let call = |rest: &str| format!("{CALL}{rest}");
    let sent = |rest: &str| format!("{SENT}{rest}");
    let answered = |rest: &str| format!("{ANSWERED}{rest}");
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
        (answered("/properties/more"), json!({ "type": "string" })),
        (answered("/required"), json!(["id", "kind", "at"])),
        (answered("/properties/share/maximum"), json!(0.5)),
        (answered("/properties/share/type"), json!("integer")),
        (answered("/properties/kind"), json!({ "type": "string", "enum": ["a"] })),
        (answered("/properties/why"), json!({ "$ref": "#/components/schemas/Why" })),
        (answered("/properties/at/maxLength"), json!(9)),
    ] {
        assert!(!breaks(&pointer, value.clone()), "{pointer} {value}");
    }
}

#[test]
fn a_document_breaks_nothing_of_itself() {
    assert_eq!(changes(&document(), &document()), []);
}

#[test]
fn a_change_says_where_it_is() {
    let found = changes(&document(), &with(&format!("{ANSWERED}/properties/id"), Value::Null));
    let expected = "breaking  POST /a, answer 200, application/json.id: the property is gone";
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn only_another_leading_number_lets_a_change_break() {
    let of = |version: &str| json!({ "info": { "version": version } });
    for (old, new, expected) in [
        ("0.1.0", "0.1.9", false),
        ("0.1.0", "0.2.0", true),
        ("0.9.0", "1.0.0", true),
        ("1.0.0", "1.9.0", false),
        ("1.9.0", "2.0.0", true),
        ("0.0.1", "0.0.2", true),
        ("1.0.0", "none", true),
    ] {
        assert_eq!(may_break(&of(old), &of(new)), expected, "{old} to {new}");
    }
}
