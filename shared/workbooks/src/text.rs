//! The text of an element, of a limited length; and the shared strings.

use std::io::Read;

use quick_xml::events::Event;

use crate::archive::Limits;
use crate::error::WorkbookError;
use crate::xml::{XmlPart, push_reference};

/// Maximum length of a cell's text in bytes: 32,767 characters of four bytes.
const TEXT_BYTES: usize = 4 * 32_767;

/// Maximum number of events of an element with text. A cell of Excel has a few formatted runs, of about 20 events each.
const TEXT_EVENTS: u64 = 1_000_000;

/// Appends the text of the element that has begun, up to its end, and returns the number of its events. Phonetic
/// hints are left out.
///
/// # Errors
/// If the text is too long, or the part is damaged.
pub(crate) fn read_text(
    part: &mut XmlPart<impl Read>,
    kind: TextKind,
    text: &mut String,
) -> Result<u64, WorkbookError> {
    let (start, mut events) = (text.len(), 0);
    let (mut depth, mut in_text, mut in_phonetic) = (0_usize, kind == TextKind::Plain, None);
    loop {
        events += 1;
        match part.next()? {
            Event::Start(element) => {
                depth += 1;
                match element.local_name().as_ref() {
                    "rPh" if in_phonetic.is_none() => in_phonetic = Some(depth),
                    "t" if kind == TextKind::Rich => in_text = true,
                    _ => {}
                }
            }
            Event::End(_) if depth == 0 => return Ok(events),
            Event::End(element) => {
                if kind == TextKind::Rich && element.local_name().as_ref() == "t" {
                    in_text = false;
                }
                if in_phonetic == Some(depth) {
                    in_phonetic = None;
                }
                depth -= 1;
            }
            Event::Text(content) if in_text && in_phonetic.is_none() => text.push_str(&content.xml10_content()),
            Event::CData(content) if in_text && in_phonetic.is_none() => text.push_str(&content.xml10_content()),
            Event::GeneralRef(reference) if in_text && in_phonetic.is_none() => push_reference(&reference, text)?,
            Event::Eof => return Err(WorkbookError::damaged("a part ends within an element")),
            _ => {}
        }
        if text.len() - start > TEXT_BYTES || events > TEXT_EVENTS {
            return Err(WorkbookError::TextTooLong);
        }
    }
}

/// The kind of an element with text.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum TextKind {
    /// All its text counts: `v`.
    Plain,
    /// The text of its `t` elements counts: `si`, `is`.
    Rich,
}

/// Replaces the escapes of characters that XML does not have: `_x000D_` is a carriage return, `_x005F_` an underscore.
pub(crate) fn unescape(text: &mut String, start: usize) {
    if !text[start..].contains("_x") {
        return;
    }
    let escaped = text.split_off(start);
    let mut rest = escaped.as_str();
    while let Some(at) = rest.find("_x") {
        text.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let character = code.filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let character = character.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        let length = match character {
            Some(character) => {
                text.push(character);
                7
            }
            None => {
                text.push_str("_x");
                2
            }
        };
        rest = &rest[at + length..];
    }
    text.push_str(rest);
}

/// Memory by which the shared strings grow. They do not double, because they can be the larger part of the memory.
const GROWTH_BYTES: usize = 8 << 20;

/// The shared strings, in one allocation.
#[derive(Default)]
pub(crate) struct SharedStrings {
    text: String,
    /// The end of each string in the text.
    ends: Vec<u32>,
}

impl SharedStrings {
    /// Reads the strings. Of the numbers that the part declares, none is used.
    ///
    /// # Errors
    /// If the part is damaged, or exceeds a limit.
    pub(crate) fn read(mut part: XmlPart<impl Read>, limits: &Limits) -> Result<Self, WorkbookError> {
        let (mut strings, mut events) = (Self::default(), 0);
        loop {
            events += 1;
            if events > limits.string_events {
                return Err(WorkbookError::damaged("the part with the texts has too many elements"));
            }
            match part.next()? {
                Event::Start(element) if element.local_name().as_ref() == "si" => {}
                Event::Eof => return Ok(strings),
                _ => continue,
            }
            if strings.ends.len() >= limits.strings {
                return Err(WorkbookError::TooManyStrings(limits.strings));
            }
            strings.grow();
            let start = strings.text.len();
            events += read_text(&mut part, TextKind::Rich, &mut strings.text)?;
            unescape(&mut strings.text, start);
            if strings.text.len() > limits.string_text_bytes {
                return Err(WorkbookError::TooLarge(limits.string_text_bytes as u64));
            }
            strings.ends.push(u32::try_from(strings.text.len()).map_err(WorkbookError::damaged)?);
        }
    }

    /// Makes room for one more string.
    fn grow(&mut self) {
        if self.text.capacity() - self.text.len() <= TEXT_BYTES {
            self.text.reserve_exact(GROWTH_BYTES);
        }
        if self.ends.capacity() == self.ends.len() {
            self.ends.reserve_exact(GROWTH_BYTES / size_of::<u32>() / 8);
        }
    }

    /// Returns the string with this index; `None` if there is none.
    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::{SharedStrings, TEXT_BYTES, unescape};
    use crate::archive::Limits;
    use crate::error::WorkbookError;
    use crate::xml::XmlPart;

    fn read(xml: &str, strings: usize) -> Result<Vec<String>, WorkbookError> {
        let limits = Limits { strings, string_text_bytes: 1_000, ..Limits::default() };
        let strings = SharedStrings::read(XmlPart::new(xml.as_bytes(), 10 << 20), &limits)?;
        Ok((0..).map_while(|index| strings.get(index).map(str::to_owned)).collect())
    }

    #[test]
    fn shared_strings_are_read_by_their_index() {
        let xml = "<sst uniqueCount=\"99999999999\"><si><t>a &amp; b</t></si><si/><si><t/></si>\
            <si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space=\"preserve\">ch </t></r></si>\
            <si><t>漢字</t><rPh sb=\"0\" eb=\"2\"><t>かんじ</t></rPh></si>\
            <si><t><![CDATA[<x>]]>&#x20AC;_x000D_</t></si><x:si><x:t>p</x:t></x:si></sst>";
        assert_eq!(read(xml, 10).unwrap(), ["a & b", "", "", "rich ", "漢字", "<x>€\r", "p"]);
    }

    #[test]
    fn shared_strings_are_limited_in_number_and_length() {
        let many = "<si><t>a</t></si>".repeat(11);
        assert_eq!(read(&many, 11).map(|strings| strings.len()), Ok(11));
        assert_eq!(read(&many, 10), Err(WorkbookError::TooManyStrings(10)));
        let runs =
            format!("<si>{}</si>", format!("<r><t>{}</t></r>", "x".repeat(1_000)).repeat(TEXT_BYTES / 1_000 + 1));
        assert_eq!(read(&runs, 10), Err(WorkbookError::TextTooLong));
        let texts = format!("<si><t>{}</t></si>", "x".repeat(100)).repeat(11);
        assert_eq!(read(&texts, 20), Err(WorkbookError::TooLarge(1_000)));
        assert!(matches!(read("<si><t>", 10), Err(WorkbookError::Damaged(_))));
        assert!(matches!(read("<si><t>&unknown;</t></si>", 10), Err(WorkbookError::Damaged(_))));
    }

    #[test]
    fn escaped_characters_are_replaced() {
        for (escaped, expected) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x00e4_", "ä"),
            ("_x12_", "_x12_"),
            ("_xD800_", "_xD800_"),
            ("_x", "_x"),
            ("_x000Dä", "_x000Dä"),
            ("plain", "plain"),
        ] {
            let mut text = format!("_x0041_{escaped}");
            unescape(&mut text, 7);
            assert_eq!(text, format!("_x0041_{expected}"), "{escaped}");
        }
    }
}
