//! The content type of answers.

use super::super::lab::Notebook;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;

pub(super) fn check(notebook: &Notebook) -> Report {
    let Some(ping) = &notebook.ping else { return Report::skipped(Check::ContentType, "there was no ping") };
    let found = ping.headers.content_type.as_deref();
    if found.is_some_and(is_json) {
        return Report::ok(Check::ContentType, "application/json");
    }
    let summary = found.map_or_else(
        || "the answer to the ping has no content type".to_owned(),
        |found| format!("the answer to the ping has the content type {found:?}"),
    );
    let evidence = Evidence { sent: "a ping".to_owned(), received: words::response(ping) };
    Report::problem(Check::ContentType, Problem::ContentType, summary).with(evidence)
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_has_several_content_types() {
        for (content_type, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/problem+json", true),
            ("text/html", false),
            ("text/json", false),
            ("", false),
        ] {
            assert_eq!(is_json(content_type), expected, "{content_type}");
        }
    }
}
