//! The encoding of a text file, and the text of its records.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{BIG5, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};
use serde::{Deserialize, Serialize};

use super::dialect::Delimiter;

/// An encoding of text, written as its name in the Encoding Standard (<https://encoding.spec.whatwg.org>).
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "Cow<'_, str>")]
pub struct TextEncoding(&'static Encoding);

/// The error of an encoding's name.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not an encoding that can be read; use a name of the Encoding Standard, such as utf-8, \
     windows-1252, iso-8859-2, shift_jis, euc-jp or gb18030"
)]
pub struct UnknownEncoding(pub String);

impl TextEncoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(UTF_8);

    /// Returns the encoding with this name or label, in any case.
    ///
    /// # Errors
    /// If there is none, or if its bytes below 0x80 are not always ASCII, as in ISO-2022-JP.
    pub fn named(label: &str) -> Result<Self, UnknownEncoding> {
        let found = Encoding::for_label_no_replacement(label.as_bytes()).map(Self);
        found.filter(|found| found.0.is_ascii_compatible() || found.is_utf16()).ok_or_else(|| {
            let label: String = label.chars().take(40).collect();
            UnknownEncoding(label)
        })
    }

    /// Returns the name of the encoding.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns true for UTF-16. It is decoded as a whole, because its bytes cannot be split at line breaks.
    pub fn is_utf16(self) -> bool {
        self.0 == UTF_16LE || self.0 == UTF_16BE
    }

    /// Returns true if a byte of a delimiter is always the delimiter. In some encodings of East Asia, the byte of `|`
    /// can be the second one of a character.
    pub fn permits(self, delimiter: Delimiter) -> bool {
        let has_ascii_trail_bytes = [SHIFT_JIS, GB18030, GBK, BIG5].contains(&self.0);
        delimiter != Delimiter::Pipe || !has_ascii_trail_bytes
    }

    /// Returns true if every text in ASCII or UTF-8 is its own text in this encoding.
    pub fn is_utf8(self) -> bool {
        self.0 == UTF_8
    }

    /// Returns the text of a record; `None` if a byte has no meaning in this encoding.
    ///
    /// The Encoding Standard maps the unassigned bytes of Windows code pages to control characters. Here, they have no
    /// meaning: no program writes them, so they show that the file has another encoding.
    pub fn decode(self, record: &[u8]) -> Option<Cow<'_, str>> {
        let text = self.0.decode_without_bom_handling_and_without_replacement(record)?;
        let has_unassigned = self.0.is_single_byte() && text.contains(is_unassigned);
        (!has_unassigned).then_some(text)
    }

    /// Passes on the parts of a record that have a text, and `None` for each byte without a meaning between them.
    pub fn decode_with(self, record: &[u8], mut take: impl FnMut(Option<&str>)) {
        let (text, _) = self.0.decode_without_bom_handling(record);
        let is_invalid = |c: char| c == char::REPLACEMENT_CHARACTER || (self.0.is_single_byte() && is_unassigned(c));
        for (i, part) in text.split(is_invalid).enumerate() {
            if i > 0 {
                take(None);
            }
            take(Some(part));
        }
    }
}

/// Returns true for the control characters to which the Encoding Standard maps unassigned bytes.
fn is_unassigned(c: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&c)
}

impl Default for TextEncoding {
    fn default() -> Self {
        Self::UTF_8
    }
}

impl From<&'static Encoding> for TextEncoding {
    fn from(encoding: &'static Encoding) -> Self {
        Self(encoding)
    }
}

impl From<TextEncoding> for &'static str {
    fn from(encoding: TextEncoding) -> Self {
        encoding.name()
    }
}

impl TryFrom<Cow<'_, str>> for TextEncoding {
    type Error = UnknownEncoding;

    fn try_from(label: Cow<'_, str>) -> Result<Self, UnknownEncoding> {
        Self::named(&label)
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1252;

    use super::*;

    #[test]
    fn an_unassigned_byte_is_not_decoded() {
        let windows = TextEncoding(WINDOWS_1252);
        assert_eq!(windows.decode(b"caf\xe9 \x80").as_deref(), Some("caf\u{e9} \u{20ac}"));
        assert_eq!(windows.decode(b"caf\x81"), None);
        assert_eq!(TextEncoding::UTF_8.decode(b"caf\xe9"), None);
        assert_eq!(TextEncoding::UTF_8.decode("\u{85}".as_bytes()).as_deref(), Some("\u{85}"));
        assert_eq!(TextEncoding(SHIFT_JIS).decode(b"\x83"), None);
    }

    #[test]
    fn an_encoding_has_the_names_of_the_standard() {
        for (label, name) in [
            ("UTF8", "UTF-8"),
            ("latin1", "windows-1252"),
            ("CP1250", "windows-1250"),
            ("sjis", "Shift_JIS"),
            ("utf-16", "UTF-16LE"),
        ] {
            assert_eq!(TextEncoding::named(label).map(TextEncoding::name), Ok(name));
        }
        for label in ["", "ebcdic", "iso-2022-jp", "iso-2022-kr", "replacement", &"x".repeat(500)] {
            let error = TextEncoding::named(label).unwrap_err();
            assert!(error.to_string().len() < 250, "{error}");
        }
    }

    /// All bytes of each encoding: is the second byte of a character a delimiter?
    #[test]
    fn only_a_vertical_bar_can_be_a_part_of_a_character() {
        for name in ["windows-1252", "EUC-JP", "EUC-KR", "Shift_JIS", "gb18030", "GBK", "Big5"] {
            let encoding = TextEncoding::named(name).unwrap();
            for delimiter in Delimiter::ALL {
                let is_trail = |lead: u8| {
                    let pair = [lead, delimiter.byte()];
                    encoding.decode(&pair).is_some_and(|text| !text.contains(char::from(delimiter.byte())))
                };
                let can_be_part = (0x80..=0xff).any(is_trail);
                assert_eq!(encoding.permits(delimiter), !can_be_part, "{name} {delimiter:?}");
            }
            for quote in [b'"', b'\'', b'\n', b'\r'] {
                let is_trail =
                    |lead: u8| encoding.decode(&[lead, quote]).is_some_and(|text| !text.contains(char::from(quote)));
                assert!(!(0x80..=0xff).any(is_trail), "{name} {quote}");
            }
        }
    }
}
