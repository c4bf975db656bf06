//! Client text in messages: shortened, so that no file can make a message long.
//!
//! Messages are stored in the job, whose item DynamoDB limits to 400 KB, and are read by people.

/// Maximum characters of a name in a message.
pub const NAME_CHARS: usize = 60;
/// Maximum number of names in one message.
const LISTED_NAMES: usize = 20;
/// Maximum bytes of a list of names.
const LIST_BYTES: usize = 2 * 1024;

/// Returns at most this many characters of a text, and `…` if some were left out.
pub fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a name in quotes, shortened to [`NAME_CHARS`].
pub fn quoted(name: &str) -> String {
    format!("{:?}", shortened(name, NAME_CHARS))
}

/// Returns names in quotes, separated by commas: the first twenty in at most 2 KB, and how many more there are.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let (mut list, mut left_out) = (String::new(), 0_usize);
    for (at, name) in names.into_iter().enumerate() {
        let name = if left_out == 0 && at < LISTED_NAMES { quoted(name) } else { String::new() };
        if name.is_empty() || list.len() + name.len() + 2 > LIST_BYTES {
            left_out += 1;
            continue;
        }
        if at > 0 {
            list.push_str(", ");
        }
        list.push_str(&name);
    }
    if left_out > 0 {
        list.push_str(&format!(" and {left_out} more"));
    }
    list
}

/// Cuts a text to at most this many bytes, at the end of a character, `…` included.
pub fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let mut end = bytes.saturating_sub('…'.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, listed, quoted, shortened};

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöü", 2), "äö…");
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}…\"", "é".repeat(60)));
        let mut text = "é".repeat(10);
        cut(&mut text, 20);
        assert_eq!(text.len(), 20);
        cut(&mut text, 10);
        assert_eq!(text, "ééé…");
    }

    #[test]
    fn a_list_of_any_names_is_short() {
        assert_eq!(listed(["a", "b\""]), r#""a", "b\"""#);
        assert_eq!(listed([]), "");
        let many: Vec<_> = (0..30).map(|n| format!("c{n}")).collect();
        assert!(listed(many.iter().map(String::as_str)).ends_with(r#""c19" and 10 more"#));
        for name in ["\u{0}", "\u{10FFFF}", "é", "\""] {
            let long = name.repeat(200_000);
            let list = listed(std::iter::repeat_n(long.as_str(), 30_000));
            assert!(list.len() < 2_100 && list.ends_with(" more"), "{} bytes", list.len());
        }
    }
}
