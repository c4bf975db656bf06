//! One call: its parameters, request and responses.

use maud::{Markup, html};
use serde_json::Value;

use super::document::{Call, array, resolve, text};
use super::{curl, shape, words};

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
                                td { (shape::schema_shape(&parameter["schema"])) }
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
                (shape::properties(self.document, &content["schema"]))
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
                        p.note { code { (name) } " " (shape::schema_shape(&header["schema"])) " " (text(&header["description"])) }
                    }
                    @for (media_type, content) in response["content"].as_object().into_iter().flatten() {
                        p.note { (media_type) ": " (shape::schema_shape(&content["schema"])) }
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
