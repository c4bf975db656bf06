//! Error messages for rows that do not match their schema.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use longshore_domain::text::{NAME_CHARS, shortened};
use serde_json::Value;

use super::conversion::is_long_integer;
use crate::handler::Rejection;

/// Maximum length of a quoted value in a message: enough to find it.
const QUOTED_CHARS: usize = 40;

/// Maximum number of properties with further errors in a message.
const NAMED_OTHERS: usize = 5;

/// Returns the rejection for the first error of a row that has these others. Its code is `schema_` and the keyword.
pub(super) fn rejection<'a>(
    error: &ValidationError<'_>,
    others: impl Iterator<Item = ValidationError<'a>>,
) -> Rejection {
    let (mut message, first) = (message(error), field(error));
    let (mut names, mut more) = (Vec::new(), 0);
    for other in others {
        more += 1;
        let name = field(&other).filter(|_| names.len() < NAMED_OTHERS);
        let name = name.filter(|name| first.as_ref() != Some(name)).map(|name| shortened(&name, NAME_CHARS));
        names.extend(name.filter(|name| !names.contains(name)));
    }
    if more > 0 {
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        message.push_str(&format!(" (and {more} more{names})"));
    }
    Rejection::new(format!("schema_{}", snake_case(error.kind().keyword())), first.as_deref(), message)
}

/// Returns the invalid property: the missing or unexpected one, else the one with the wrong value.
fn field(error: &ValidationError<'_>) -> Option<String> {
    let path = error.instance_path().as_str().trim_start_matches('/');
    let named = match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected.first().map(String::as_str),
        _ => None,
    };
    let path = path.replace("~1", "/").replace("~0", "~");
    match (path.as_str(), named) {
        ("", named) => named.map(str::to_owned),
        (_, Some(named)) => Some(format!("{path}/{named}")),
        (_, None) => Some(path),
    }
}

fn message(error: &ValidationError<'_>) -> String {
    let value = quoted(error.instance());
    let name = field(error).map_or_else(|| String::from("the row"), |field| shortened(&field, NAME_CHARS));
    match error.kind() {
        ValidationErrorKind::Required { .. } => format!("{name} is required and missing or empty"),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().take(5 * QUOTED_CHARS).map(|name| shortened(name, NAME_CHARS));
            format!("the schema does not allow {}", shortened(&names.collect::<Vec<_>>().join(", "), 5 * QUOTED_CHARS))
        }
        ValidationErrorKind::Type { .. } if error.instance().as_str().is_some_and(is_long_integer) => {
            format!("{name} is {value}, which does not fit into 64 bits; make the property a string to keep all digits")
        }
        ValidationErrorKind::Type { kind } => format!("{name} is {value}; it must be {}", types(kind)),
        ValidationErrorKind::Pattern { pattern } => {
            format!("{name} is {value}; it must match the pattern {}", shortened(pattern, 5 * QUOTED_CHARS))
        }
        ValidationErrorKind::Format { format } => format!("{name} is {value}; it must be {}", describe_format(format)),
        ValidationErrorKind::FalseSchema => format!("{name} is {value}, which the schema does not allow"),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            format!("{name} is {value}, which matches no alternative of the schema")
        }
        _ => shortened(&format!("{name}: {}", error.masked_with(value)), 10 * QUOTED_CHARS),
    }
}

/// Returns a description of a format, with an example.
fn describe_format(format: &str) -> String {
    let example = match format {
        "date" => "a valid date, such as 2024-02-13",
        "date-time" => "a valid date and time, such as 2024-02-13T18:30:00+01:00",
        "time" => "a time, such as 18:30:00Z",
        "email" => "an email address",
        "uri" => "a URI, such as https://example.com",
        "uuid" => "a UUID",
        _ => return format!("of the format {}", shortened(format, NAME_CHARS)),
    };
    example.to_owned()
}

fn types(kind: &TypeKind) -> String {
    let names: Vec<_> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(set) => set.iter().map(|one| one.to_string()).collect(),
    };
    let expected = names.iter().map(|name| match name.as_str() {
        "boolean" => "true or false",
        "integer" => "an integer",
        "object" => "an object",
        "array" => "an array",
        "null" => "empty",
        "number" => "a number",
        _ => "a string",
    });
    expected.collect::<Vec<_>>().join(" or ")
}

/// Returns the beginning of a value. Only the shown part is formatted.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(&Value::from(shortened(text, QUOTED_CHARS)).to_string(), QUOTED_CHARS),
        Value::Array(_) | Value::Object(_) => shortened(&value.to_string(), QUOTED_CHARS),
        _ => value.to_string(),
    }
}

fn snake_case(keyword: &str) -> String {
    let mut snake = String::with_capacity(keyword.len() + 4);
    for c in keyword.trim_start_matches('$').chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::schema::Schema;

    fn violation(property: Value, value: Value) -> (String, Option<String>, String) {
        let schema = json!({
            "properties": {"p": property}, "required": ["p"], "additionalProperties": false
        });
        let row = if value.is_null() { json!({}) } else { json!({"p": value}) };
        describe(schema, row)
    }

    fn describe(schema: Value, row: Value) -> (String, Option<String>, String) {
        let rejection = Schema::compile(&schema).unwrap().check(&row).unwrap_err();
        (rejection.code, rejection.field, rejection.message)
    }

    #[test]
    fn the_message_contains_the_wrong_value_and_a_valid_one() {
        let long = "x".repeat(100);
        let rules: [(Value, Value, &str, &str); 14] = [
            (json!({"type": "integer"}), json!("12a"), "schema_type", r#"p is "12a"; it must be an integer"#),
            (
                json!({"type": ["boolean", "null"]}),
                json!("1"),
                "schema_type",
                r#"p is "1"; it must be empty or true or false"#,
            ),
            (
                json!({"type": "integer"}),
                json!("18446744073709551616"),
                "schema_type",
                "p is \"18446744073709551616\", which does not fit into 64 bits; make the property a string to keep all \
                 digits",
            ),
            (json!({}), json!(null), "schema_required", "p is required and missing or empty"),
            (json!({"pattern": "^a"}), json!("b"), "schema_pattern", r#"p is "b"; it must match the pattern ^a"#),
            (json!({"format": "email"}), json!("b"), "schema_format", r#"p is "b"; it must be an email address"#),
            (
                json!({"format": "date"}),
                json!("31.2.2024"),
                "schema_format",
                r#"p is "31.2.2024"; it must be a valid date, such as 2024-02-13"#,
            ),
            (json!({"minimum": 5}), json!(4), "schema_minimum", "p: 4 is less than the minimum of 5"),
            (
                json!({"exclusiveMaximum": 5}),
                json!(5),
                "schema_exclusive_maximum",
                "p: 5 is greater than or equal to the maximum of 5",
            ),
            (json!({"enum": ["a", "b"]}), json!("c"), "schema_enum", r#"p: "c" is not one of "a" or "b""#),
            (
                json!({"maxLength": 3}),
                json!(long),
                "schema_max_length",
                r#"p: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… is longer than 3 characters"#,
            ),
            (json!({"const": 1}), json!(2), "schema_const", "p: 1 was expected"),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!("x"),
                "schema_any_of",
                r#"p is "x", which matches no alternative of the schema"#,
            ),
            (json!({"multipleOf": 0.5}), json!(0.7), "schema_multiple_of", "p: 0.7 is not a multiple of 0.5"),
        ];
        for (property, value, code, message) in rules {
            assert_eq!(violation(property, value), (code.to_owned(), Some("p".to_owned()), message.to_owned()));
        }
    }

    #[test]
    fn the_first_of_several_errors_is_reported_and_the_others_counted() {
        let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
        let (_, field, message) = describe(schema, json!({"a": "x", "b": "y"}));
        assert_eq!(
            (field.as_deref(), message.as_str()),
            (Some("a"), r#"a is "x"; it must be an integer (and 1 more: b)"#)
        );
        let both = json!({"type": "integer", "maxLength": 0});
        let properties: serde_json::Map<_, _> =
            "abcdefg".chars().map(|name| (name.to_string(), both.clone())).collect();
        let row: serde_json::Map<_, _> = properties.keys().map(|name| (name.clone(), json!("x"))).collect();
        let (_, _, message) = describe(json!({"properties": properties}), Value::Object(row));
        assert!(message.ends_with("(and 13 more: b, c, d, e, f)"), "{message}");
    }

    #[test]
    fn an_unexpected_or_nested_property_is_named() {
        let (code, field, message) =
            describe(json!({"properties": {"a": {}}, "additionalProperties": false}), json!({"x": 1}));
        assert_eq!(
            (code.as_str(), field.as_deref(), message.as_str()),
            ("schema_additional_properties", Some("x"), "the schema does not allow x")
        );
        let nested = json!({"properties": {"address": {"required": ["zip"]}}});
        let (_, field, message) = describe(nested, json!({"address": {}}));
        assert_eq!(
            (field.as_deref(), message.as_str()),
            (Some("address/zip"), "address/zip is required and missing or empty")
        );
    }
}
