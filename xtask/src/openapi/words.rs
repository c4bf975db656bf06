//! Renders the Markdown subset of descriptions: paragraphs, numbered lists, and code in backticks.

use maud::{Markup, html};

/// Renders a text as paragraphs and lists.
pub(super) fn paragraphs(text: &str) -> Markup {
    html! {
        @for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
            @if block.starts_with("1. ") {
                ol { @for item in items(block) { li { (line(&item)) } } }
            } @else {
                p { (line(block)) }
            }
        }
    }
}

/// Splits a numbered list into items. A line without a number continues the previous item.
fn items(block: &str) -> Vec<String> {
    block.lines().fold(Vec::new(), |mut items: Vec<String>, line| {
        match (line.split_once(". "), items.last_mut()) {
            (Some((number, item)), _) if number.bytes().all(|b| b.is_ascii_digit()) => items.push(item.to_owned()),
            (_, Some(item)) => *item = format!("{item} {}", line.trim()),
            (_, None) => items.push(line.to_owned()),
        }
        items
    })
}

/// Renders a line. Text in backticks is code.
fn line(text: &str) -> Markup {
    html! {
        @for (i, piece) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::paragraphs;

    #[test]
    fn descriptions_become_paragraphs_lists_and_code() {
        for (text, expected) in [
            ("", ""),
            ("a `b` c\nd", "<p>a <code>b</code> c\nd</p>"),
            ("a\n\nb", "<p>a</p><p>b</p>"),
            ("1. a\n   b\n2. `c`", "<ol><li>a b</li><li><code>c</code></li></ol>"),
            ("<script>", "<p>&lt;script&gt;</p>"),
        ] {
            assert_eq!(paragraphs(text).into_string(), expected);
        }
    }
}
