//! The events of one XML part, with limits for the part, for each event, and for the depth of elements.
//!
//! The parser keeps one event and the names of the open elements in memory, so these are limited while the part is
//! inflated. Declared sizes are not used.

use std::io::{self, BufRead, BufReader, Read};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::WorkbookError;

/// Maximum size of one event: a tag, a text, a comment or a declaration. A cell has up to 32,767 characters.
const EVENT_BYTES: usize = 512 << 10;

/// Maximum depth of elements. A workbook needs eight.
const DEPTH: usize = 64;

/// An XML part that is read.
pub(crate) struct XmlPart<R: Read> {
    reader: Reader<LimitedReader<R>>,
    buffer: Vec<u8>,
    depth: usize,
}

impl<R: Read> XmlPart<R> {
    /// Creates a part of at most `bytes` bytes from its inflated bytes.
    pub(crate) fn new(part: R, bytes: u64) -> Self {
        let limited = LimitedReader { part: BufReader::new(part), left: bytes, limit: bytes, event_left: EVENT_BYTES };
        let mut reader = Reader::from_reader(limited);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        Self { reader, buffer: Vec::new(), depth: 0 }
    }

    /// Returns the next event. Comments and processing instructions are returned, too.
    ///
    /// # Errors
    /// If the part is not well-formed, has a document type, exceeds a limit, or cannot be read.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, WorkbookError> {
        self.buffer.clear();
        self.reader.get_mut().event_left = EVENT_BYTES;
        let event = self.reader.read_event_into(&mut self.buffer)?;
        match event {
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::DocType(_) => return Err(WorkbookError::damaged("a part declares a document type")),
            _ => {}
        }
        if self.depth > DEPTH {
            return Err(WorkbookError::damaged("the elements of a part are too deep"));
        }
        Ok(event)
    }
}

/// A reader that fails beyond the limits.
struct LimitedReader<R> {
    part: BufReader<R>,
    /// Bytes of the part that may still be read.
    left: u64,
    limit: u64,
    /// Bytes of the event that may still be read.
    event_left: usize,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for LimitedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.part.fill_buf()?;
        if bytes.is_empty() {
            return Ok(bytes);
        }
        if self.left == 0 {
            return Err(io::Error::other(WorkbookError::TooLarge(self.limit)));
        }
        if self.event_left == 0 {
            return Err(io::Error::other(WorkbookError::TextTooLong));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.event_left);
        Ok(&bytes[..bytes.len().min(most)])
    }

    fn consume(&mut self, length: usize) {
        self.left -= length as u64;
        self.event_left -= length;
        self.part.consume(length);
    }
}

/// Returns the value of an attribute, without its prefix; `None` if the element does not have it.
///
/// # Errors
/// If the attributes are not well-formed.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, WorkbookError> {
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(WorkbookError::damaged)?;
        if attribute.key.local_name().as_ref() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// Appends the characters of a reference, such as `&amp;` or `&#228;`.
///
/// # Errors
/// If there is no such character. A workbook declares no entities of its own.
pub(crate) fn push_reference(reference: &BytesRef<'_>, text: &mut String) -> Result<(), WorkbookError> {
    if let Some(characters) = resolve_xml_entity(reference) {
        text.push_str(characters);
        return Ok(());
    }
    let character = reference.resolve_char_ref()?;
    text.push(character.ok_or_else(|| WorkbookError::damaged("a part has an unknown entity"))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use quick_xml::events::Event;

    use super::{EVENT_BYTES, XmlPart};
    use crate::error::WorkbookError;

    fn read(xml: &str, bytes: u64) -> Result<usize, WorkbookError> {
        let mut part = XmlPart::new(xml.as_bytes(), bytes);
        let mut events = 0;
        while part.next()? != Event::Eof {
            events += 1;
        }
        Ok(events)
    }

    /// Each of these is one event for the parser, whatever characters it contains.
    #[test]
    fn an_event_is_limited_by_its_size() {
        let long = "<a ".repeat(EVENT_BYTES);
        for start in
            ["", "<row x=\"", "<a ", "<?x ", "<!-- ", "<!-->", "<![CDATA[", "<!DOCTYPE a [", "<!DOCTYPE a SYSTEM \">"]
        {
            let xml =
                format!("<r>{start}{}", if start.is_empty() { "x".repeat(EVENT_BYTES + 1) } else { long.clone() });
            let error = read(&xml, u64::MAX).unwrap_err();
            assert!(matches!(error, WorkbookError::TextTooLong | WorkbookError::Damaged(_)), "{start:?}: {error}");
        }
        assert_eq!(read(&format!("<r>{}</r>", "x".repeat(EVENT_BYTES - 10)), u64::MAX), Ok(3));
        assert_eq!(
            read(&format!("<r>{}</r>", "x".repeat(EVENT_BYTES + 10)), u64::MAX),
            Err(WorkbookError::TextTooLong)
        );
    }

    #[test]
    fn a_part_is_limited_in_size_and_depth() {
        assert_eq!(read("<r></r>", 7), Ok(2));
        assert_eq!(read("<r></r>", 6), Err(WorkbookError::TooLarge(6)));
        assert_eq!(read(&"<a>".repeat(64), 1_000), Ok(64));
        assert!(matches!(read(&"<a>".repeat(65), 1_000), Err(WorkbookError::Damaged(_))));
    }

    #[test]
    fn a_document_type_is_refused() {
        let entities = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";
        assert!(matches!(read(entities, 1_000), Err(WorkbookError::Damaged(_))));
    }
}
