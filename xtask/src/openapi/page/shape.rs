//! Renders schemas: the type of a value as a line, and the properties of an object as a table.

use maud::{Markup, html};
use serde_json::Value;

use super::document::{array, resolve, text};
use super::words;

/// Renders every named schema, each with an anchor for references.
pub(super) fn all(document: &Value) -> Markup {
    let schemas = document["components"]["schemas"].as_object();
    html! {
        h2 id="shapes" { "Schemas" }
        p.lead { "The JSON documents of requests and responses." }
        @for (name, schema) in schemas.into_iter().flatten() {
            section.call id={ "shape-" (name) } {
                h3 { (name) }
                (words::paragraphs(text(&schema["description"])))
                @if schema["properties"].is_object() { (properties(document, schema)) } @else { p { (schema_shape(schema)) } }
            }
        }
    }
}

/// Renders the properties of an object. Required properties are first, in the order of `required`.
pub(super) fn properties(document: &Value, schema: &Value) -> Markup {
    let schema = resolve(document, schema);
    let required = array(&schema["required"]);
    let mut properties: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    let position = |name: &str| required.iter().position(|known| known == name).unwrap_or(required.len());
    properties.sort_by_key(|(name, _)| position(name));
    html! {
        table.rows {
            thead { tr { th { "property" } th { "value" } th { "meaning" } } }
            tbody {
                @for (name, property) in properties {
                    tr {
                        td { code { (name) } @if !required.iter().any(|known| known == name) { " " span.note { "optional" } } }
                        td { (schema_shape(property)) }
                        td { (words::paragraphs(description(property))) }
                    }
                }
            }
        }
    }
}

/// Returns the description of a property. For a nullable property, an alternative has the description.
fn description(property: &Value) -> &str {
    let alternatives = array(&property["oneOf"]).iter().map(|schema| text(&schema["description"]));
    let mut descriptions = [text(&property["description"])].into_iter().chain(alternatives);
    descriptions.find(|description| !description.is_empty()).unwrap_or_default()
}

/// Renders the type of a value as a line.
pub(super) fn schema_shape(schema: &Value) -> Markup {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next()) {
        return html! { a href={ "#shape-" (name) } { (name) } (default(schema)) };
    }
    if let Some(alternatives) = schema["oneOf"].as_array() {
        return html! {
            @for (i, schema) in alternatives.iter().enumerate() { @if i > 0 { " or " } (schema_shape(schema)) }
        };
    }
    if let Some(values) = schema["enum"].as_array() {
        return html! {
            @for (i, value) in values.iter().enumerate() { @if i > 0 { ", " } code { (plain(value)) } }
            (default(schema))
        };
    }
    html! {
        (types(schema))
        @if schema["items"].is_object() { " of " (schema_shape(&schema["items"])) }
        @if schema["additionalProperties"].is_object() { " of " (schema_shape(&schema["additionalProperties"])) }
        @if let Some(format) = schema["format"].as_str().filter(|format| !format.starts_with("int")) { ", " (format) }
        (limits(schema))
        (default(schema))
        @if let Some(pattern) = schema["pattern"].as_str() { " " code { (pattern) } }
    }
}

fn types(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(one) => one.clone(),
        Value::Array(several) => several.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any value".to_owned(),
    }
}

fn limits(schema: &Value) -> Markup {
    let range = |min: &str, max: &str, unit: &str| match (&schema[min], &schema[max]) {
        (Value::Null, Value::Null) => None,
        (min, Value::Null) => Some(format!(", at least {min}{unit}")),
        (Value::Null, max) => Some(format!(", at most {max}{unit}")),
        (min, max) => Some(format!(", {min} to {max}{unit}")),
    };
    let value = range("minimum", "maximum", "");
    let length = range("minLength", "maxLength", " characters");
    html! { (value.unwrap_or_default()) (length.unwrap_or_default()) }
}

fn default(schema: &Value) -> Markup {
    html! { @if !schema["default"].is_null() { "; " code { (plain(&schema["default"])) } " if absent" } }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
