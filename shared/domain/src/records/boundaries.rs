//! Record boundaries: the position of a record in its file, and the state machines that find it in CSV and JSON Lines.
//!
//! Only offsets are passed on, not bytes: a chunk of millions of rows is described by two numbers.
//!
//! **CSV** has a state machine with the rules of the `csv` crate, for any [`Dialect`], and the speed of `memchr`. The
//! crate's own state machine takes one byte at a time and copies cells, which the splitter does not need. This one jumps
//! from one significant byte to the next. Both must agree on every input: `tests/records_properties.rs` compares them.
//!
//! **JSON Lines** has one value per line. JSON never contains a bare line break, so a broken value cannot swallow its
//! neighbors: it fails alone.

use memchr::{memchr, memchr2, memchr3};

use super::dialect::Dialect;
use super::reading::Reading;

/// The position of one record, in bytes from the start of the file (or of the slice that was cut).
///
/// `start < content_end <= end` always holds. Spans of one file never overlap and come in order. Between `end` and the
/// next `start` there are only blank lines, and rows that are no records; see [`Reading`].
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Span {
    /// First byte of the record.
    pub start: u64,
    /// Byte after the record's last byte, without its terminator.
    pub content_end: u64,
    /// Byte after the terminator: a safe place to cut the file.
    pub end: u64,
    /// True if the file ended inside a quoted field, so everything from the opening quote on is in this record.
    pub unterminated: bool,
}

impl Span {
    /// Returns the record without its terminator, from the slice in which it was found.
    ///
    /// # Panics
    /// If `bytes` is shorter than the slice that was cut.
    pub fn content<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.content_end as usize]
    }
}

/// State of the machine between two bytes; only needed where a block ends.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
enum State {
    /// No record is open: line breaks here are blank lines.
    #[default]
    Between,
    /// The next byte is the first of a field: a quote opens only here.
    FieldStart,
    /// Inside an unquoted field, or after a closing quote: quotes are plain characters.
    InField,
    /// Inside quotes: only a quote is significant.
    Quoted,
    /// After a quote within quotes: the next byte distinguishes a doubled quote from the closing one.
    QuoteSeen,
    /// After the `\r` that ended the record: a `\n` still belongs to it.
    ReturnSeen,
    /// Only delimiters and white space since the start of the row, which is no record yet.
    Blank {
        /// True if a field begins here.
        is_field_start: bool,
    },
    /// In a comment row.
    Comment,
}

/// The state machine of CSV.
#[derive(Clone, Debug)]
pub(super) struct CsvMachine {
    delimiter: u8,
    quote: Option<u8>,
    /// True if a row of delimiters and white space is no record.
    skips_blank: bool,
    comment: Option<u8>,
    state: State,
    start: u64,
}

impl CsvMachine {
    /// Creates a machine for a file of this dialect, in which every row but an empty line is a record.
    pub(super) fn new(Dialect { delimiter, quote }: Dialect) -> Self {
        let (delimiter, quote, state) = (delimiter.byte(), quote.byte(), State::default());
        Self { delimiter, quote, skips_blank: false, comment: None, state, start: 0 }
    }

    /// Creates a machine for a file of this reading.
    pub(super) fn reading(reading: &Reading) -> Self {
        let comment = reading.comment.and_then(|comment| u8::try_from(comment).ok());
        Self { skips_blank: true, comment, ..Self::new(reading.dialect) }
    }

    /// Returns the next record that ends in `block`, searched from `at` on; `None` once the block is used up.
    pub(super) fn next(&mut self, block: &[u8], base: u64, at: &mut usize) -> Option<Span> {
        while let Some(&byte) = block.get(*at) {
            match self.state {
                State::Between => self.skip_line_break_or_open(byte, base, at),
                State::FieldStart | State::QuoteSeen => self.quote_or_text(byte, at),
                State::InField => {
                    if let Some(content_end) = self.leave_field(block, at) {
                        return Some(self.close(base + content_end as u64, base + *at as u64));
                    }
                }
                State::Quoted => self.skip_to_quote(block, at),
                State::Blank { is_field_start } => self.skip_blank_or_open(byte, is_field_start, at),
                State::Comment => self.skip_comment(block, at),
                State::ReturnSeen => {
                    let content_end = base + *at as u64 - 1;
                    *at += usize::from(byte == b'\n');
                    return Some(self.close(content_end, base + *at as u64));
                }
            }
        }
        None
    }

    /// Returns the record that is open when the stream ends at `offset`.
    pub(super) fn finish(&mut self, offset: u64) -> Option<Span> {
        let state = self.state;
        let content_end = match state {
            State::Between => return None,
            State::Blank { .. } | State::Comment => {
                self.state = State::Between;
                return None;
            }
            State::ReturnSeen => offset - 1,
            _ => offset,
        };
        Some(Span { unterminated: state == State::Quoted, ..self.close(content_end, offset) })
    }

    pub(super) fn open_since(&self) -> Option<u64> {
        (self.state != State::Between).then_some(self.start)
    }

    fn close(&mut self, content_end: u64, end: u64) -> Span {
        self.state = State::Between;
        Span { start: self.start, content_end, end, unterminated: false }
    }

    fn skip_line_break_or_open(&mut self, byte: u8, base: u64, at: &mut usize) {
        if matches!(byte, b'\r' | b'\n') {
            *at += 1;
        } else {
            self.start = base + *at as u64;
            if Some(byte) == self.comment {
                self.state = State::Comment;
            } else if self.skips_blank {
                self.skip_blank_or_open(byte, true, at);
            } else {
                self.quote_or_text(byte, at);
            }
        }
    }

    /// Skips a byte of a row that has no text so far, or opens its record.
    fn skip_blank_or_open(&mut self, byte: u8, is_field_start: bool, at: &mut usize) {
        match byte {
            // The line break is skipped in that state.
            b'\r' | b'\n' => self.state = State::Between,
            _ if byte == self.delimiter || matches!(byte, b' ' | b'\t') => {
                *at += 1;
                self.state = State::Blank { is_field_start: byte == self.delimiter };
            }
            _ if is_field_start => self.quote_or_text(byte, at),
            _ => self.state = State::InField,
        }
    }

    /// Skips to the line break, or to the end of the block.
    fn skip_comment(&mut self, block: &[u8], at: &mut usize) {
        match memchr2(b'\r', b'\n', &block[*at..]) {
            Some(jump) => (*at, self.state) = (*at + jump, State::Between),
            None => *at = block.len(),
        }
    }

    /// Reads a quote that opens a field or doubles the one before it. Leaves any other byte to the unquoted state.
    fn quote_or_text(&mut self, byte: u8, at: &mut usize) {
        if Some(byte) == self.quote {
            *at += 1;
            self.state = State::Quoted;
        } else {
            self.state = State::InField;
        }
    }

    /// Scans unquoted fields to the end of the record, which it returns, or to the next opening quote.
    ///
    /// A delimiter counts only if this scan has passed it: one right before `at` was read in another state, or is none.
    fn leave_field(&mut self, block: &[u8], at: &mut usize) -> Option<usize> {
        let from = *at;
        let delimiter = self.delimiter;
        let after_delimiter = |here: usize| here > from && block[here - 1] == delimiter;
        // Without quotes, a line feed is searched twice: `memchr3` needs three bytes.
        let quote = self.quote.unwrap_or(b'\n');
        let Some(jump) = memchr3(b'\n', b'\r', quote, &block[from..]) else {
            *at = block.len();
            if after_delimiter(block.len()) {
                self.state = State::FieldStart;
            }
            return None;
        };
        let found = from + jump;
        *at = found + 1;
        match block[found] {
            byte if Some(byte) == self.quote => {
                if after_delimiter(found) {
                    self.state = State::Quoted;
                }
            }
            b'\r' => match block.get(*at) {
                None => self.state = State::ReturnSeen,
                Some(next) => {
                    *at += usize::from(*next == b'\n');
                    return Some(found);
                }
            },
            _ => return Some(found),
        }
        None
    }

    /// Scans to the next quote; where every field is quoted, directly on through the next one.
    fn skip_to_quote(&mut self, block: &[u8], at: &mut usize) {
        while let Some(quote) = self.quote {
            let Some(jump) = memchr(quote, &block[*at..]) else { break };
            *at += jump + 1;
            if !block[*at..].starts_with(&[self.delimiter, quote]) {
                self.state = State::QuoteSeen;
                return;
            }
            *at += 2;
        }
        *at = block.len();
    }
}

/// The state machine of JSON Lines.
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
#[path = "boundaries_tests.rs"]
mod tests;
