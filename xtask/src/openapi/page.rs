//! Renders the API's document as a page: every call with its parameters and responses. The page needs no scripts and no
//! network, and supports dark mode, phones and print.
//!
//! The page is committed and served as a static file, because it only changes with the code.
//!
//! This file has the layout of the page: head, table of contents, and a section for each group of calls.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::document::{array, calls, text};
use super::{sections, words};

/// The style sheet that the problem pages also use. The content security policy allows no other style.
const STYLE: &str = include_str!("../../../docs/api/style.css");

/// Renders the page.
pub(crate) fn page(document: &Value) -> String {
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
                        "For programs, there is an " a href="/api/openapi.json" { "OpenAPI 3.1 document" }
                        ". For errors, see the " a href="/api/problems" { "list of problems" } "."
                    }
                    nav aria-label="Calls" { (contents(document)) }
                    @for tag in array(&document["tags"]) { (section(document, tag)) }
                    (sections::schemas(document))
                }
            }
        }
    };
    format!("{}\n", page.into_string())
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

fn section(document: &Value, tag: &Value) -> Markup {
    let name = text(&tag["name"]);
    html! {
        h2 id={ "tag-" (name) } { (name[..1].to_uppercase()) (name[1..]) }
        p.lead { (text(&tag["description"])) }
        @for call in calls(document, tag) { (call.section()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
    const PAGE: &str = include_str!("../../../docs/api/page.html");

    #[test]
    fn the_committed_page_matches_the_committed_document() {
        let page = page(&serde_json::from_str(DOCUMENT).unwrap());
        assert!(page == PAGE, "docs/api/page.html is not up to date: run `cargo xtask openapi`");
    }

    #[test]
    fn the_page_shows_every_call_and_loads_nothing() {
        let document: Value = serde_json::from_str(DOCUMENT).unwrap();
        for tag in array(&document["tags"]) {
            for call in calls(&document, tag) {
                for text in [format!("id=\"{}\"", call.id()), format!("href=\"#{}\"", call.id())] {
                    assert!(PAGE.contains(&text), "{text}");
                }
            }
        }
        let shown = array(&document["tags"]).iter().map(|tag| calls(&document, tag).len()).sum::<usize>();
        let existing = document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len());
        assert_eq!(shown, existing.sum::<usize>(), "a call without a tag is not on the page");
        for resource in ["<script", "<link", "<img", "src=", "style=", "@import", "url(", "href=\"http"] {
            assert!(!PAGE.contains(resource), "{resource}");
        }
    }

    #[test]
    fn every_link_within_the_page_has_a_target() {
        for link in PAGE.split("href=\"#").skip(1) {
            let id = link.split('"').next().unwrap();
            assert!(PAGE.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}
