//! The records of another job as items of a walk: as they stood, so that what failed because of its bytes fails again.

use std::borrow::Cow;

use longshore::result::NumberedLine;
use longshore_domain::records::{Format, records};
use longshore_domain::work_file::Entry;

use crate::item_file_builder::WalkedItem;

/// A byte that is never part of UTF-8.
const NOT_UTF8: u8 = 0xFF;

/// Converts records to items of at most `longest` bytes.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RecordCopier {
    pub(crate) format: Format,
    pub(crate) longest: u64,
}

impl RecordCopier {
    /// Returns the record of an entry. What a work file could not repeat exactly is not made valid by the copy: a byte
    /// that was not UTF-8 stays one, a quote that was never closed stays open, and a record without bytes has none.
    pub(crate) fn entry(self, entry: &Entry) -> WalkedItem {
        let raw = entry.raw.as_bytes();
        if !entry.damaged || !entry.raw.contains('\u{FFFD}') {
            return self.record(raw);
        }
        let mut bytes = Vec::with_capacity(raw.len());
        for (i, part) in entry.raw.split('\u{FFFD}').enumerate() {
            bytes.extend((i > 0).then_some(NOT_UTF8));
            bytes.extend_from_slice(part.as_bytes());
        }
        self.record(&bytes)
    }

    /// Returns a record.
    pub(crate) fn record(self, raw: &[u8]) -> WalkedItem {
        if raw.len() as u64 > self.longest {
            return WalkedItem::WithoutBytes;
        }
        let mut line = match self.format {
            Format::JsonLines => without_line_ends(raw).into_owned(),
            Format::Csv => raw.to_vec(),
        };
        line.push(b'\n');
        let first = records(self.format, &line).next();
        let is_whole = first.is_some_and(|span| span.end == line.len() as u64);
        line.pop();
        match first {
            Some(span) if span.unterminated => WalkedItem::Unclosed(line),
            Some(_) if is_whole => WalkedItem::Record(line),
            // Only a record without bytes is none.
            _ => WalkedItem::WithoutBytes,
        }
    }

    /// Returns the output in a row of the results.
    ///
    /// # Errors
    /// If the row is not what a worker writes.
    pub(crate) fn output(self, row: &[u8], is_numbered: bool) -> Result<WalkedItem, serde_json::Error> {
        if !is_numbered {
            return Ok(self.record(row));
        }
        let NumberedLine { output, .. } = serde_json::from_slice(row)?;
        Ok(self.record(output.get().as_bytes()))
    }
}

/// Replaces line ends by carriage returns, which JSON allows and refuses in the same places. A corrected item can have
/// them.
fn without_line_ends(json: &[u8]) -> Cow<'_, [u8]> {
    if json.contains(&b'\n') {
        return json.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect::<Vec<_>>().into();
    }
    json.into()
}

#[cfg(test)]
mod tests {
    use longshore_domain::outcome::Rejection;
    use longshore_domain::work_file::End;

    use super::*;

    fn entry(raw: &str, damaged: bool) -> Entry {
        Entry { n: 1, end: End::Failed(Rejection::new("x", None, "x")), raw: raw.into(), damaged }
    }

    #[test]
    fn a_record_stays_as_it_stood() {
        let csv = RecordCopier { format: Format::Csv, longest: 20 };
        let jsonl = RecordCopier { format: Format::JsonLines, longest: 20 };
        let record = |bytes: &[u8]| WalkedItem::Record(bytes.into());
        for (copier, raw, damaged, expected) in [
            (csv, "1,\"a\nb\"", false, record(b"1,\"a\nb\"")),
            (csv, "1,\u{FFFD}", true, record(b"1,\xFF")),
            (csv, "1,\u{FFFD}", false, record("1,\u{FFFD}".as_bytes())),
            (csv, "1,\"a\n2,b", true, WalkedItem::Unclosed(b"1,\"a\n2,b".into())),
            (csv, "", true, WalkedItem::WithoutBytes),
            (csv, "123456789012345678901", false, WalkedItem::WithoutBytes),
            (jsonl, "{\"a\":\n1}", false, record(b"{\"a\":\r1}")),
            (jsonl, " 1 ", false, record(b" 1 ")),
            (jsonl, "  ", false, WalkedItem::WithoutBytes),
        ] {
            assert_eq!(copier.entry(&entry(raw, damaged)), expected, "{raw:?}");
        }
    }

    #[test]
    fn an_output_is_copied_without_its_number() {
        let copier = RecordCopier { format: Format::JsonLines, longest: 99 };
        for (row, is_numbered, expected) in [
            (r#"{"number":7,"output":{"b":1.50,"a":2}}"#, true, r#"{"b":1.50,"a":2}"#),
            (r#"{"number":7,"output":null}"#, true, "null"),
            (r#"{"number":7,"output":1}"#, false, r#"{"number":7,"output":1}"#),
        ] {
            assert_eq!(copier.output(row.as_bytes(), is_numbered).unwrap(), WalkedItem::Record(expected.into()));
        }
        assert!(copier.output(b"7", true).is_err());
    }
}
