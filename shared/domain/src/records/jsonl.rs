//! Record boundaries in JSON Lines: one value per line.
//!
//! JSON never contains a bare line break, so a broken value cannot swallow its neighbors: it fails alone.

use memchr::memchr;

use super::Span;

#[derive(Clone, Debug, Default)]
pub(super) struct JsonLinesMachine {
    /// Start of the open record.
    start: Option<u64>,
    /// True if the previous block ended in a `\r` of the open record.
    return_seen: bool,
}

impl JsonLinesMachine {
    /// Returns the next record that ends in `block`, searched from `at` on; `None` once the block is used up.
    pub(super) fn next(&mut self, block: &[u8], base: u64, at: &mut usize) -> Option<Span> {
        let start = match self.start {
            Some(start) => start,
            None => self.open(block, base, at)?,
        };
        let rest = &block[*at..];
        let Some(line_break) = memchr(b'\n', rest) else {
            self.return_seen = rest.last().map_or(self.return_seen, |last| *last == b'\r');
            *at = block.len();
            return None;
        };
        if let Some(last) = line_break.checked_sub(1) {
            self.return_seen = rest[last] == b'\r';
        }
        let line_end = base + (*at + line_break) as u64;
        *at += line_break + 1;
        Some(self.close(start, line_end, line_end + 1))
    }

    /// Returns the record that is open when the stream ends at `offset`.
    pub(super) fn finish(&mut self, offset: u64) -> Option<Span> {
        let start = self.start?;
        Some(self.close(start, offset, offset))
    }

    pub(super) fn open_since(&self) -> Option<u64> {
        self.start
    }

    /// Skips white space, including blank lines, to the first byte of a record.
    fn open(&mut self, block: &[u8], base: u64, at: &mut usize) -> Option<u64> {
        let blank = block[*at..].iter().take_while(|byte| is_json_space(**byte)).count();
        *at += blank;
        self.start = (*at < block.len()).then_some(base + *at as u64);
        self.start
    }

    fn close(&mut self, start: u64, line_end: u64, end: u64) -> Span {
        let content_end = line_end - u64::from(self.return_seen);
        *self = Self::default();
        Span { start, content_end, end, unterminated: false }
    }
}

fn is_json_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use crate::records::{Cutter, Format, Span, records};

    #[test]
    fn each_rule_holds_in_one_block_and_byte_by_byte() {
        let table: &[(&str, &[(&str, u64)])] = &[
            ("", &[]),
            (" \t\r\n\n \n  ", &[]),
            ("{}\n[1]\n", &[("{}", 3), ("[1]", 7)]),
            ("{}\r\n{}", &[("{}", 4), ("{}", 6)]),
            ("{}\r", &[("{}", 3)]),
            ("1\r2\n", &[("1\r2", 4)]),
            ("1\r\r\n", &[("1\r", 4)]),
            ("\n  1 \n\t\n2\n", &[("1 ", 6), ("2", 10)]),
            ("\"a\nb\"", &[("\"a", 3), ("b\"", 5)]),
        ];
        for (text, expected) in table {
            let whole: Vec<Span> = records(Format::JsonLines, text.as_bytes()).collect();
            let found: Vec<_> = whole.iter().map(|span| (span.content(text.as_bytes()), span.end)).collect();
            let expected: Vec<_> = expected.iter().map(|(content, end)| (content.as_bytes(), *end)).collect();
            assert_eq!(found, expected, "{text:?} in one block");
            assert_eq!(cut_by_byte(text), whole, "{text:?} byte by byte");
        }
    }

    fn cut_by_byte(text: &str) -> Vec<Span> {
        let mut cutter = Cutter::new(Format::JsonLines);
        let mut found = Vec::new();
        for byte in text.as_bytes() {
            cutter.feed(&[*byte], &mut |span| found.push(span));
        }
        found.extend(cutter.finish());
        found
    }

    #[test]
    fn white_space_before_a_value_is_not_open_yet() {
        let mut cutter = Cutter::new(Format::JsonLines);
        cutter.feed(b" \n ", &mut |span| panic!("no record: {span:?}"));
        assert_eq!(cutter.open_since(), None);
        cutter.feed(b" 1", &mut |span| panic!("still open: {span:?}"));
        assert_eq!(cutter.open_since(), Some(4));
    }
}
