//! The subset of JSON Schema that forms draw.
//!
//! Every valid schema is used to check options and items. A form is drawn only for what is listed here:
//!
//! | part | keywords |
//! | --- | --- |
//! | the schema | `type: object`, `properties`, `required`, `title`, `description`, `additionalProperties` (`true` or `false`), `$schema` |
//! | a property | `type` (`string`, `number`, `integer` or `boolean`) or `enum` (of strings, numbers or booleans), `title`, `description`, `default`, `minimum`, `maximum`, `minLength`, `maxLength`, `pattern` |

use serde_json::{Map, Value};

/// Keywords of the schema, besides `properties`.
const OF_SCHEMA: [&str; 6] = ["$schema", "type", "required", "title", "description", "additionalProperties"];

/// Keywords of a property.
const OF_PROPERTY: [&str; 10] =
    ["type", "enum", "title", "description", "default", "minimum", "maximum", "minLength", "maxLength", "pattern"];

/// Types of a property.
const TYPES: [&str; 4] = ["string", "number", "integer", "boolean"];

/// Returns the JSON pointers of the parts that a form does not draw. If there are none, the form is complete: it can
/// express every value that the schema allows.
pub fn not_drawn(schema: &Value) -> Vec<String> {
    let Some(members) = schema.as_object() else { return vec![String::new()] };
    let mut found = Vec::new();
    if members.get("type").is_none_or(|kind| kind != "object") {
        found.push("/type".to_owned());
    }
    let is_known = |name: &str, value: &Value| match name {
        "properties" => value.is_object(),
        "additionalProperties" => value.is_boolean(),
        _ => OF_SCHEMA.contains(&name),
    };
    found.extend(unknown("", members, is_known));
    for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        match property.as_object() {
            Some(property) => found.extend(of_property(&at, property)),
            None => found.push(at),
        }
    }
    found
}

fn of_property(at: &str, property: &Map<String, Value>) -> Vec<String> {
    let has_kind = property.contains_key("type") || property.contains_key("enum");
    let is_known = |name: &str, value: &Value| match name {
        "type" => value.as_str().is_some_and(|kind| TYPES.contains(&kind)),
        "enum" => value.as_array().is_some_and(|values| values.iter().all(is_plain)),
        _ => OF_PROPERTY.contains(&name),
    };
    let missing = (!has_kind).then(|| format!("{at}/type"));
    missing.into_iter().chain(unknown(at, property, is_known)).collect()
}

fn unknown(at: &str, members: &Map<String, Value>, is_known: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    let unknown = members.iter().filter(|(name, value)| !is_known(name, value));
    let pointer = |name: &String| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    unknown.map(|(name, _)| pointer(name)).collect()
}

fn is_plain(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flat_object_of_plain_properties_is_drawn() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "title": "Invite",
            "description": "Sends invitations.", "required": ["event"], "additionalProperties": false,
            "properties": {
                "event": { "type": "string", "title": "Event", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$" },
                "count": { "type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many." },
                "rate": { "type": "number" }, "quiet": { "type": "boolean" },
                "language": { "enum": ["de", "en", 1, true] },
            },
        });
        assert_eq!(not_drawn(&schema), Vec::<String>::new());
        assert_eq!(not_drawn(&json!({ "type": "object" })), Vec::<String>::new());
    }

    #[test]
    fn every_other_part_is_named() {
        for (schema, expected) in [
            (json!(true), vec![""]),
            (json!({}), vec!["/type"]),
            (json!({ "type": "array" }), vec!["/type"]),
            (json!({ "type": "object", "allOf": [] }), vec!["/allOf"]),
            (json!({ "type": "object", "additionalProperties": {} }), vec!["/additionalProperties"]),
            (json!({ "type": "object", "properties": [] }), vec!["/properties"]),
            (
                json!({ "type": "object", "properties": {
                    "a/b": { "type": "object" }, "c~": { "$ref": "#" }, "d": true, "e": { "type": ["string", "null"] },
                    "f": { "enum": [null] }, "g": { "type": "string", "format": "email" },
                } }),
                vec![
                    "/properties/a~1b/type",
                    "/properties/c~0/type",
                    "/properties/c~0/$ref",
                    "/properties/d",
                    "/properties/e/type",
                    "/properties/f/enum",
                    "/properties/g/format",
                ],
            ),
        ] {
            assert_eq!(not_drawn(&schema), expected, "{schema}");
        }
    }
}
