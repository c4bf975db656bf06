//! Renders the sections of calls: parameters, request and responses. Renders those of schemas: the type of a value as a
//! line, and the properties of an object as a table.

use maud::{Markup, html};
use serde_json::Value;

use super::document::{Call, array, resolve, text};
use super::{curl, words};

impl Call<'_> {
    pub(super) fn section(&self) -> Markup {
        html! {
            section.call id=(self.id()) {
                h3 { span class={ "method " (self.method) } { (self.method.to_uppercase()) } code { (self.path) } }
                p { strong { (text(&self.operation["summary"])) } @if self.is_public() { " No token needed." } }
                (words::paragraphs(text(&self.operation["description"])))
                (self.parameters())
                (self.body())
                h4 { "Example" }
                pre { code { (curl::command(self)) } }
                (self.responses())
            }
        }
    }

    fn parameters(&self) -> Markup {
        let parameters = array(&self.operation["parameters"]);
        html! {
            @if !parameters.is_empty() {
                h4 { "Parameters" }
                table.rows {
                    thead { tr { th { "name" } th { "in" } th { "value" } th { "meaning" } } }
                    tbody {
                        @for parameter in parameters {
                            tr {
                                td { code { (text(&parameter["name"])) } }
                                td { (text(&parameter["in"])) @if parameter["required"] == true { ", required" } }
                                td { (schema_shape(&parameter["schema"])) }
                                td { (words::paragraphs(text(&parameter["description"]))) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn body(&self) -> Markup {
        let body = &self.operation["requestBody"];
        html! {
            @for (media_type, content) in body["content"].as_object().into_iter().flatten() {
                h4 { "Body: " (media_type) }
                p.note { (text(&body["description"])) }
                (properties(self.document, &content["schema"]))
            }
        }
    }

    fn responses(&self) -> Markup {
        html! {
            h4 { "Responses" }
            table.rows {
                thead { tr { th { "status" } th { "meaning" } } }
                tbody {
                    @for (status, response) in self.operation["responses"].as_object().into_iter().flatten() {
                        (self.response(status, resolve(self.document, response)))
                    }
                }
            }
        }
    }

    fn response(&self, status: &str, response: &Value) -> Markup {
        html! {
            tr {
                td.status { (status) }
                td {
                    (words::paragraphs(text(&response["description"])))
                    @for (name, header) in response["headers"].as_object().into_iter().flatten() {
                        p.note { code { (name) } " " (schema_shape(&header["schema"])) " " (text(&header["description"])) }
                    }
                    @for (media_type, content) in response["content"].as_object().into_iter().flatten() {
                        p.note { (media_type) ": " (schema_shape(&content["schema"])) }
                        (example(media_type, content))
                    }
                }
            }
        }
    }
}

fn example(media_type: &str, content: &Value) -> Markup {
    let example = match &content["example"] {
        Value::Null => return html! {},
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    html! { details { summary { "Example of " (media_type) } pre { code { (example) } } } }
}

/// Renders every named schema, each with an anchor for references.
pub(super) fn schemas(document: &Value) -> Markup {
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
fn properties(document: &Value, schema: &Value) -> Markup {
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
fn schema_shape(schema: &Value) -> Markup {
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
