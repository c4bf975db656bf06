//! The first characters of what a handler returned, for operators.

use std::fmt;

/// Number of characters that are kept.
const EXCERPT_CHARS: usize = 500;
/// Maximum size of a character in UTF-8, in bytes.
const CHAR_BYTES: usize = 4;

/// The first 500 characters of a response that is not an answer. They may be a stack trace or contain data of other
/// rows, so they are for operators only: neither messages nor debug output contain them.
#[derive(Clone, Eq, PartialEq, Default)]
pub struct Excerpt(String);

impl Excerpt {
    /// Keeps the first characters of a response. Bytes that are not UTF-8 become U+FFFD.
    pub fn new(response: &[u8]) -> Self {
        let first = &response[..response.len().min(EXCERPT_CHARS * CHAR_BYTES)];
        Self(String::from_utf8_lossy(first).chars().take(EXCERPT_CHARS).collect())
    }

    /// Returns the characters. Only operators may see them.
    pub fn for_operators(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Excerpt({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn an_excerpt_has_at_most_500_characters_of_any_bytes() {
        for (response, kept) in [
            (b"".to_vec(), String::new()),
            (b"Traceback".to_vec(), "Traceback".to_owned()),
            ("\u{10FFFF}".repeat(600).into_bytes(), "\u{10FFFF}".repeat(500)),
            (vec![0xFF; 600], "\u{FFFD}".repeat(500)),
        ] {
            assert_eq!(Excerpt::new(&response).for_operators(), kept);
        }
    }

    #[test]
    fn debug_output_does_not_contain_the_response() {
        assert_eq!(format!("{:?}", Excerpt::new(b"secret")), "Excerpt(6 bytes)");
    }
}
