//! Unpacked bytes as text that can be split: UTF-16 becomes UTF-8, and other text stays as it is.

use std::io::{self, Write};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE};
use longshore_domain::records::Form;

use crate::error::PreparationError;
use crate::sink::{BLOCK_BYTES, Sink};

/// Bytes that are inspected before the first ones are written.
const HEAD_BYTES: usize = 64 << 10;

/// Byte for a code unit without a meaning, such as half of a surrogate pair. It is no UTF-8, so its row fails as one
/// with a bad byte does in any other encoding.
const BAD_BYTE: u8 = 0xff;

/// A writer for the bytes of a file whose encoding is not known yet.
pub(crate) struct Text<W> {
    sink: W,
    state: State,
}

enum State {
    /// The first bytes.
    Head(Vec<u8>),
    /// Text that stays as it is.
    AsItIs,
    /// Text in UTF-16.
    Utf16(Box<Decoder>),
}

impl<W: Write> Text<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, state: State::Head(Vec::new()) }
    }

    /// Writes what is left. Returns the sink.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        PreparationError::or_enough(self.decide())?;
        if let State::Utf16(decoder) = &mut self.state {
            PreparationError::or_enough(decode(decoder, &[], true, &mut self.sink))?;
        }
        self.sink.flush()?;
        Ok(self.sink)
    }

    /// Decides by the first bytes, and writes them.
    fn decide(&mut self) -> io::Result<()> {
        let State::Head(head) = &mut self.state else { return Ok(()) };
        let head = std::mem::take(head);
        self.state = match Form::detect(&head) {
            None => State::AsItIs,
            Some(Form::Utf16) => State::Utf16(Box::new(utf16(&head).new_decoder_with_bom_removal())),
            Some(Form::Gzip | Form::Zstd | Form::Zip) => {
                return Err(PreparationError::NotText("another compressed file").into());
            }
            Some(Form::Workbook) => return Err(PreparationError::NotText("a workbook").into()),
        };
        self.put(&head)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.state {
            State::Utf16(decoder) => decode(decoder, bytes, false, &mut self.sink),
            State::Head(_) | State::AsItIs => self.sink.write_all(bytes),
        }
    }
}

impl<W: Write> Write for Text<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let State::Head(head) = &mut self.state {
            let (now, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - head.len()));
            head.extend_from_slice(now);
            if head.len() == HEAD_BYTES {
                self.decide()?;
                self.put(rest)?;
            }
            return Ok(bytes.len());
        }
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<W: Sink> Sink for Text<W> {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        if let State::AsItIs = self.state {
            return self.sink.fill(read);
        }
        let mut block = vec![0; BLOCK_BYTES];
        let filled = read(&mut block)?;
        self.write_all(&block[..filled])?;
        Ok(filled)
    }
}

/// Returns the encoding of text with a byte order mark.
fn utf16(head: &[u8]) -> &'static Encoding {
    if head.starts_with(b"\xfe\xff") { UTF_16BE } else { UTF_16LE }
}

fn decode(decoder: &mut Decoder, mut bytes: &[u8], is_last: bool, sink: &mut impl Write) -> io::Result<()> {
    let mut decoded = vec![0; BLOCK_BYTES];
    loop {
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(bytes, &mut decoded, is_last);
        sink.write_all(&decoded[..written])?;
        bytes = &bytes[read..];
        match result {
            DecoderResult::InputEmpty => return Ok(()),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => sink.write_all(&[BAD_BYTE])?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], block: usize) -> Result<Vec<u8>, PreparationError> {
        let mut text = Text::new(Vec::new());
        for block in bytes.chunks(block) {
            text.write_all(block)?;
        }
        Ok(text.finish()?)
    }

    #[test]
    fn utf16_becomes_utf8_whatever_the_blocks_are() {
        let source = "\u{feff}Name;Größe\r\n\u{1f600};1\r\n";
        let (little, big): (Vec<u8>, Vec<u8>) = (
            source.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            source.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        );
        for bytes in [little, big] {
            for block in [1, 3, 1_000] {
                assert_eq!(text(&bytes, block).unwrap(), source.trim_start_matches('\u{feff}').as_bytes());
            }
        }
    }

    #[test]
    fn a_bad_code_unit_becomes_a_bad_byte() {
        let bytes = [0xff, 0xfe, b'a', 0, 0x00, 0xd8, b'b', 0, b'c'];
        assert_eq!(text(&bytes, 2).unwrap(), b"a\xffb\xff");
    }

    #[test]
    fn other_text_stays_as_it_is_and_archives_are_refused() {
        let long = b"a;\xe4\n".repeat(40_000);
        assert_eq!(text(&long, 1_000).unwrap(), long);
        assert_eq!(text(b"", 1).unwrap(), b"");
        for bytes in [&b"\x1f\x8b\x08"[..], b"PK\x03\x04a", b"\xd0\xcf\x11\xe0"] {
            assert_eq!(text(bytes, 9).unwrap_err().code(), Some("archive_not_text"), "{bytes:?}");
        }
    }
}
