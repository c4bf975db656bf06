//! The events of one XML part, with limits for the part, for each event, and for the depth of elements.
//!
//! The parser keeps one event and the names of the open elements in memory, so these are limited while the part is
//! inflated. Declared sizes are not used.

use std::io::{self, BufReader, Read};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::WorkbookError;

/// Maximum size of one event: a tag, a text, a comment or a declaration. A cell has up to 32,767 characters.
const EVENT_BYTES: usize = 512 << 10;

/// Maximum depth of elements. A workbook needs eight.
const DEPTH: usize = 64;

/// Bytes of a part that are inflated at once. An event can be longer than its limit by as much.
const BLOCK_BYTES: usize = 64 << 10;

/// An XML part that is read.
pub(crate) struct XmlPart<R: Read> {
    reader: Reader<BufReader<LimitedReader<R>>>,
    buffer: Vec<u8>,
    depth: usize,
    /// Reason for which the part is not read further.
    refused: Option<&'static str>,
}

impl<R: Read> XmlPart<R> {
    /// Creates a part of at most `bytes` bytes from its inflated bytes.
    pub(crate) fn new(part: R, bytes: u64) -> Self {
        let limited = LimitedReader { part, left: bytes, limit: bytes, event_left: EVENT_BYTES };
        let mut reader = Reader::from_reader(BufReader::with_capacity(BLOCK_BYTES, limited));
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        Self { reader, buffer: Vec::new(), depth: 0, refused: None }
    }

    /// Returns the part with one event for each empty element, instead of those of its start and its end.
    pub(crate) fn with_empty_elements(mut self) -> Self {
        self.reader.config_mut().expand_empty_elements = false;
        self
    }

    /// Returns the next event. Comments and processing instructions are returned, too.
    ///
    /// # Errors
    /// If the part is not well-formed, exceeds a limit, or cannot be read; or if the event before it was refused: a
    /// document type, or an element that is too deep.
    #[inline]
    pub(crate) fn next(&mut self) -> quick_xml::Result<Event<'_>> {
        match self.refused {
            Some(reason) => Err(io::Error::other(WorkbookError::damaged(reason)).into()),
            None => self.read(),
        }
    }

    /// Reads an event where it stays: a copy of each takes a tenth of the time.
    #[inline]
    fn read(&mut self) -> quick_xml::Result<Event<'_>> {
        self.buffer.clear();
        self.reader.get_mut().get_mut().event_left = EVENT_BYTES;
        let event = self.reader.read_event_into(&mut self.buffer);
        match &event {
            Ok(Event::Start(_)) => self.depth += 1,
            Ok(Event::End(_)) => self.depth = self.depth.saturating_sub(1),
            Ok(Event::DocType(_)) => self.refused = Some("a part declares a document type"),
            _ => {}
        }
        if self.depth > DEPTH {
            self.refused = Some("the elements of a part are too deep");
        }
        event
    }
}

/// A reader that fails beyond the limits.
struct LimitedReader<R> {
    part: R,
    /// Bytes of the part that may still be read.
    left: u64,
    limit: u64,
    /// Bytes that may still be read for the event.
    event_left: usize,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.event_left == 0 {
            return Err(io::Error::other(WorkbookError::TextTooLong));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.event_left).min(buffer.len());
        let length = self.part.read(&mut buffer[..most.max(1)])?;
        self.left = match self.left.checked_sub(length as u64) {
            Some(left) => left,
            None => return Err(io::Error::other(WorkbookError::TooLarge(self.limit))),
        };
        self.event_left -= length;
        Ok(length)
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

    use super::{BLOCK_BYTES, EVENT_BYTES, XmlPart};
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
            let xml = format!(
                "<r>{start}{}",
                if start.is_empty() { "x".repeat(EVENT_BYTES + BLOCK_BYTES) } else { long.clone() }
            );
            let error = read(&xml, u64::MAX).unwrap_err();
            assert!(matches!(error, WorkbookError::TextTooLong | WorkbookError::Damaged(_)), "{start:?}: {error}");
        }
        assert_eq!(read(&format!("<r>{}</r>", "x".repeat(EVENT_BYTES - 10)), u64::MAX), Ok(3));
        assert_eq!(
            read(&format!("<r>{}</r>", "x".repeat(EVENT_BYTES + BLOCK_BYTES)), u64::MAX),
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
