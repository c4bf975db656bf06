//! The page made from the API's document: every call with its parameters and responses, readable without scripts or
//! network, in light and dark mode, on a phone and on paper.
//!
//! The page is generated here and served as static bytes, because it only changes with the code.

mod curl;
mod shape;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// Shared with the problem pages, whose content security policy allows no other style.
const STYLE: &str = include_str!("../../../../docs/api/style.css");

/// Renders the whole page.
pub(super) fn page(document: &Value) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Calls - Longshore" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (text(&document["info"]["title"])) }
                    p.lead { "Version " (text(&document["info"]["version"])) }
                    (words::paragraphs(text(&document["info"]["description"])))
                    p {
                        "For programs: " a href="/api/openapi.json" { "this as OpenAPI 3.1" } ". For errors: "
                        a href="/api/problems" { "all problems" } "."
                    }
                    nav aria-label="Calls" { (contents(document)) }
                    @for tag in array(&document["tags"]) { (calls_of(document, tag)) }
                    (shape::all(document))
                }
            }
        }
    };
    format!("{}\n", page.into_string())
}

/// One call.
struct Call<'a> {
    document: &'a Value,
    method: &'a str,
    path: &'a str,
    operation: &'a Value,
}

fn calls<'a>(document: &'a Value, tag: &'a Value) -> Vec<Call<'a>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let calls = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| Call { document, method, path, operation })
    });
    calls.filter(|call| array(&call.operation["tags"]).contains(&tag["name"])).collect()
}

fn contents(document: &Value) -> Markup {
    html! {
        ul {
            @for tag in array(&document["tags"]) {
                @for call in calls(document, tag) {
                    li { a href={ "#" (call.id()) } { (call.method.to_uppercase()) " " (call.path) } }
                }
            }
        }
    }
}

fn calls_of(document: &Value, tag: &Value) -> Markup {
    let name = text(&tag["name"]);
    html! {
        h2 id={ "tag-" (name) } { (name[..1].to_uppercase()) (name[1..]) }
        p.lead { (text(&tag["description"])) }
        @for call in calls(document, tag) { (call.section()) }
    }
}

impl Call<'_> {
    fn id(&self) -> &str {
        text(&self.operation["operationId"])
    }

    fn is_public(&self) -> bool {
        self.operation.get("security").is_some()
    }

    fn section(&self) -> Markup {
        html! {
            section.call id=(self.id()) {
                h3 { span class={ "method " (self.method) } { (self.method.to_uppercase()) } code { (self.path) } }
                p { strong { (text(&self.operation["summary"])) } @if self.is_public() { " No token needed." } }
                (words::paragraphs(text(&self.operation["description"])))
                (self.parameters())
                (self.body())
                h4 { "On the command line" }
                pre { code { (curl::command(self)) } }
                (self.answers())
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

    fn answers(&self) -> Markup {
        html! {
            h4 { "Answers" }
            table.rows {
                thead { tr { th { "status" } th { "meaning" } } }
                tbody {
                    @for (status, answer) in self.operation["responses"].as_object().into_iter().flatten() {
                        (self.answer(status, resolved(self.document, answer)))
                    }
                }
            }
        }
    }

    fn answer(&self, status: &str, answer: &Value) -> Markup {
        html! {
            tr {
                td.status { (status) }
                td {
                    (words::paragraphs(text(&answer["description"])))
                    @for (name, header) in answer["headers"].as_object().into_iter().flatten() {
                        p.note { code { (name) } " " (shape::schema_shape(&header["schema"])) " " (text(&header["description"])) }
                    }
                    @for (media_type, content) in answer["content"].as_object().into_iter().flatten() {
                        p.note { (media_type) ": " (shape::schema_shape(&content["schema"])) }
                        (example(media_type, content))
                    }
                }
            }
        }
    }
}

fn example(media_type: &str, content: &Value) -> Markup {
    let reported = match &content["example"] {
        Value::Null => return html! {},
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    html! { details { summary { "Example of " (media_type) } pre { code { (reported) } } } }
}

/// The items of an array; empty for any other value.
fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The string; empty for any other value.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Resolves a `$ref`, or returns the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(to) => document.pointer(to.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");
    const PAGE: &str = include_str!("../../../../docs/api/page.html");

    #[test]
    fn the_committed_page_is_that_of_the_committed_document() {
        let made = page(&serde_json::from_str(DOCUMENT).unwrap());
        assert!(made == PAGE, "docs/api/page.html is old: run `cargo xtask openapi`");
    }

    #[test]
    fn the_page_shows_every_call_and_asks_nobody_for_anything() {
        let document: Value = serde_json::from_str(DOCUMENT).unwrap();
        for tag in array(&document["tags"]) {
            for call in calls(&document, tag) {
                for text in [format!("id=\"{}\"", call.id()), format!("href=\"#{}\"", call.id())] {
                    assert!(PAGE.contains(&text), "{text}");
                }
            }
        }
        let of_tags = array(&document["tags"]).iter().map(|tag| calls(&document, tag).len()).sum::<usize>();
        let all = document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len());
        assert_eq!(of_tags, all.sum::<usize>(), "a call without a tag is not on the page");
        for foreign in ["<script", "<link", "<img", "src=", "style=", "@import", "url(", "href=\"http"] {
            assert!(!PAGE.contains(foreign), "{foreign}");
        }
    }

    #[test]
    fn every_link_within_the_page_leads_somewhere() {
        for link in PAGE.split("href=\"#").skip(1) {
            let id = link.split('"').next().unwrap();
            assert!(PAGE.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}
