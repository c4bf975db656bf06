//! Schemas in readable form: a value's type in a line, and an object's properties in a table.

use maud::{Markup, html};
use serde_json::Value;

use super::document::{array, resolved, text};
use super::words;

/// Renders every named schema, each with an anchor for references.
pub(super) fn all(document: &Value) -> Markup {
    let schemas = document["components"]["schemas"].as_object();
    html! {
        h2 id="shapes" { "Shapes" }
        p.lead { "What bodies and answers are made of." }
        @for (name, schema) in schemas.into_iter().flatten() {
            section.call id={ "shape-" (name) } {
                h3 { (name) }
                (words::paragraphs(text(&schema["description"])))
                @if schema["properties"].is_object() { (properties(document, schema)) } @else { p { (schema_shape(schema)) } }
            }
        }
    }
}

/// Renders the properties of an object, required ones first, in the order of the responses.
pub(super) fn properties(document: &Value, schema: &Value) -> Markup {
    let schema = resolved(document, schema);
    let required = array(&schema["required"]);
    let mut properties: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    let place = |name: &str| required.iter().position(|known| known == name).unwrap_or(required.len());
    properties.sort_by_key(|(name, _)| place(name));
    html! {
        table.rows {
            thead { tr { th { "property" } th { "value" } th { "meaning" } } }
            tbody {
                @for (name, property) in properties {
                    tr {
                        td { code { (name) } @if !required.iter().any(|known| known == name) { " " span.note { "optional" } } }
                        td { (schema_shape(property)) }
                        td { (words::paragraphs(meaning(property))) }
                    }
                }
            }
        }
    }
}

/// The description of a property. For a nullable property it is at the other alternative.
fn meaning(property: &Value) -> &str {
    let forms = array(&property["oneOf"]).iter().map(|form| text(&form["description"]));
    [text(&property["description"])].into_iter().chain(forms).find(|form| !form.is_empty()).unwrap_or_default()
}

/// The type of a value, in a line.
pub(super) fn schema_shape(schema: &Value) -> Markup {
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return html! { a href={ "#shape-" (name) } { (name) } (default(schema)) };
    }
    if let Some(forms) = schema["oneOf"].as_array() {
        return html! { @for (i, form) in forms.iter().enumerate() { @if i > 0 { " or " } (schema_shape(form)) } };
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
    let range = |least: &str, most: &str, unit: &str| match (&schema[least], &schema[most]) {
        (Value::Null, Value::Null) => None,
        (least, Value::Null) => Some(format!(", at least {least}{unit}")),
        (Value::Null, most) => Some(format!(", up to {most}{unit}")),
        (least, most) => Some(format!(", {least} to {most}{unit}")),
    };
    let numbers = range("minimum", "maximum", "");
    let lengths = range("minLength", "maxLength", " characters");
    html! { (numbers.unwrap_or_default()) (lengths.unwrap_or_default()) }
}

fn default(schema: &Value) -> Markup {
    html! { @if !schema["default"].is_null() { "; " code { (plain(&schema["default"])) } " if absent" } }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
