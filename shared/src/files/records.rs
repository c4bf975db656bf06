//! The records of a file that is read block by block, with their bytes. Memory: a block, and one open record.

use std::mem;

use longshore_domain::job::SourceFile;
use longshore_domain::records::{Cutter, Span};
use longshore_tabular::RecordConverter;

/// Cuts a stream of blocks into records, and keeps the bytes of the open one.
pub struct RecordWindow {
    cutter: Cutter,
    converter: Option<RecordConverter>,
    converted: Vec<u8>,
    longest: u64,
    spans: Vec<Span>,
    /// Bytes from `kept_from` to the cutter's offset: a block, preceded by the record that was open.
    kept: Vec<u8>,
    kept_from: u64,
}

/// A record of a stream.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct StreamedRecord<'a> {
    /// Its bytes, in UTF-8 with commas and double quotes if it is CSV; `None` if they are more than the longest record
    /// may have.
    pub content: Option<&'a [u8]>,
    /// Byte after its terminator, counted like the first byte of the stream.
    pub end: u64,
    /// True if the stream ended within its quotes.
    pub unterminated: bool,
}

impl RecordWindow {
    /// Creates the window of a stream that begins at byte `offset` of a file, at the start of a record. Records of more
    /// than `longest` bytes are not kept, so that one endless record does not fill the memory.
    pub fn starting_at(source: &SourceFile, offset: u64, longest: u64) -> Self {
        let (cutter, converter) = (source.cutter(offset), source.reading.and_then(RecordConverter::new));
        let (converted, spans, kept) = Default::default();
        Self { cutter, converter, converted, longest, spans, kept, kept_from: offset }
    }

    /// Takes the next block, and passes on the records that end in it.
    pub fn feed(&mut self, block: &[u8], take: &mut impl FnMut(StreamedRecord<'_>)) {
        self.kept.extend_from_slice(block);
        self.spans.clear();
        let spans = &mut self.spans;
        self.cutter.feed(block, &mut |span| spans.push(span));
        let spans = mem::take(&mut self.spans);
        spans.iter().for_each(|span| take(self.record(*span)));
        self.spans = spans;
        self.drop_bytes();
    }

    /// Ends the stream, and passes on the last record if one is open.
    pub fn finish(&mut self, take: &mut impl FnMut(StreamedRecord<'_>)) {
        if let Some(span) = self.cutter.finish() {
            take(self.record(span));
        }
    }

    /// Returns the byte from which a reader can continue: where the open record begins, or the end of the last block.
    pub fn reached(&self) -> u64 {
        self.cutter.open_since().unwrap_or(self.cutter.offset())
    }

    /// Returns true if the open record is too long to keep. Reading it again would take as long, so no turn should end
    /// within it.
    pub fn is_endless(&self) -> bool {
        // Up to two bytes may be a terminator whose end is not known yet.
        self.cutter.open_since().is_some_and(|since| self.cutter.offset() - since > self.longest + 2)
    }

    fn record(&mut self, span: Span) -> StreamedRecord<'_> {
        let range = span.start.checked_sub(self.kept_from).zip(span.content_end.checked_sub(self.kept_from));
        let kept = range.and_then(|(start, end)| self.kept.get(start as usize..end as usize));
        let mut content = kept.filter(|bytes| bytes.len() as u64 <= self.longest);
        if let (Some(raw), Some(converter)) = (content, &mut self.converter) {
            self.converted.clear();
            converter.append(raw, span.unterminated, &mut self.converted);
            content = Some(&self.converted).filter(|bytes| bytes.len() as u64 <= self.longest).map(Vec::as_slice);
        }
        StreamedRecord { content, end: span.end, unterminated: span.unterminated }
    }

    /// Drops bytes that are not needed again, and the beginning of a record that is already too long.
    fn drop_bytes(&mut self) {
        let keep_from = if self.is_endless() { self.cutter.offset() } else { self.reached() };
        self.kept.drain(..(keep_from.saturating_sub(self.kept_from)) as usize);
        self.kept_from = keep_from;
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{Format, Reading};

    use super::*;

    fn csv(reading: Option<Reading>) -> SourceFile {
        let (key, etag, name) = Default::default();
        SourceFile { key, size_bytes: 0, etag, format: Format::Csv, name, reading, original: None }
    }

    #[test]
    fn records_have_their_bytes_whatever_the_blocks_and_an_endless_one_has_none() {
        let text = [b"1,a\n2,\"b\nb\"\n".as_slice(), &[b'x'; 50], b"\n3,\"c"].concat();
        for block in [1, 3, 100] {
            let (mut window, mut found) = (RecordWindow::starting_at(&csv(None), 7, 20), Vec::new());
            let mut take = |record: StreamedRecord<'_>| {
                found.push((record.content.map(<[u8]>::to_vec), record.end, record.unterminated));
            };
            for bytes in text.chunks(block) {
                window.feed(bytes, &mut take);
                assert!(window.kept.len() <= 22 + block, "{} bytes are kept", window.kept.len());
            }
            window.finish(&mut take);
            let kept = |content: &[u8], end| (Some(content.to_vec()), end, false);
            let expected =
                [kept(b"1,a", 11), kept(b"2,\"b\nb\"", 19), (None, 70, false), (Some(b"3,\"c".into()), 74, true)];
            assert_eq!(found, expected, "blocks of {block}");
        }
    }
}
