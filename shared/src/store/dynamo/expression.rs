//! Finds the attribute names in an expression: each `#word` is the placeholder of the attribute `word`.
//!
//! DynamoDB reserves some 570 words, including `status`, `groups` and `open`, so every name gets a placeholder.

use std::collections::HashMap;

/// Returns placeholders and names of all attributes in these expressions.
pub(super) fn names(expressions: &[&str]) -> HashMap<String, String> {
    let words = expressions.iter().flat_map(|text| text.split('#').skip(1));
    words
        .map(|word| word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default())
        .map(|name| (format!("#{name}"), name.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn every_placeholder_stands_for_the_attribute_of_its_name() {
        let found = names(&["SET #cur.#3 = :new, #open = :o", "attribute_exists(#open) AND #a_b <> :x"]);
        let mut found: Vec<_> = found.iter().map(|(p, n)| (p.as_str(), n.as_str())).collect();
        found.sort_unstable();
        assert_eq!(found, [("#3", "3"), ("#a_b", "a_b"), ("#cur", "cur"), ("#open", "open")]);
    }
}
