//! The search for the header row.

use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileStream, Files};
use longshore_domain::records::{Cutter, Extent, Reading, Span, check_utf8};

use super::refusals::{
    empty, ended_early, header_too_long, names_too_long, too_few_rows, undecodable_header, unterminated_header,
};
use super::{FileHeader, HeaderError, NAME_OVERHEAD, check_search, open};
use crate::column_names::name_columns;
use crate::first_rows::first_rows;
use crate::handler::CellReader;

/// Maximum size of a header, and of its names with the overhead of each: they are kept in one item of 400 KB, together
/// with options of up to 128 KiB.
pub(super) const HEADER_BYTES: usize = 256 * 1024;

/// Seeks the header row, and keeps no more than one record in memory.
pub(super) struct Seeker {
    reading: Reading,
    cutter: Cutter,
    /// Records that were passed.
    passed: u32,
    /// The bytes of the unfinished record, from `kept_from` on.
    kept: Vec<u8>,
    kept_from: u64,
}

impl Seeker {
    pub(super) fn new(reading: Reading, offset: u64) -> Self {
        Self { reading, cutter: reading.cutter(offset), passed: 0, kept: Vec::new(), kept_from: offset }
    }

    /// Returns the header of a file whose first bytes, from the seeker's offset on, are `head`.
    pub(super) async fn seek(
        mut self,
        files: &impl Files,
        source: &SourceFile,
        head: Vec<u8>,
        extent: Extent,
    ) -> Result<FileHeader, HeaderError> {
        let offset = self.kept_from;
        if let Some(mut found) = self.feed(&head)? {
            let columns = found.columns.as_ref().map_or(0, Vec::len);
            let rows = &head[(found.start - offset) as usize..];
            found.rows = first_rows(rows, found.start, self.reading, columns, extent);
            return Ok(found);
        }
        if self.cutter.offset() < source.size_bytes {
            let mut stream = open(files, source, self.cutter.offset(), None).await?;
            while let Some(block) = stream.next().await? {
                if let Some(found) = self.feed(&block)? {
                    return Ok(found);
                }
                check_search(self.cutter.offset())?;
            }
            if self.cutter.offset() < source.size_bytes {
                return Err(ended_early().into());
            }
        }
        match self.cutter.finish() {
            Some(span) if self.passed == self.rows_above() => {
                let mut header = self.header(span)?;
                let row = &self.kept[(header.start - self.kept_from) as usize..];
                let columns = header.columns.as_ref().map_or(0, Vec::len);
                header.rows = first_rows(row, header.start, self.reading, columns, Extent::Whole);
                Ok(header)
            }
            None if self.passed == 0 => Err(empty(source).into()),
            last => Err(too_few_rows(self.passed + u32::from(last.is_some()), self.reading.header_row).into()),
        }
    }

    /// Returns the number of records above the header, or above the first row of a file without one.
    fn rows_above(&self) -> u32 {
        self.reading.header_row.saturating_sub(1)
    }

    fn feed(&mut self, block: &[u8]) -> Result<Option<FileHeader>, HeaderError> {
        self.kept.extend_from_slice(block);
        let (mut header, rows_above) = (None, self.rows_above());
        let passed = &mut self.passed;
        self.cutter.feed(block, &mut |span| {
            if *passed == rows_above {
                header.get_or_insert(span);
            } else {
                *passed += 1;
            }
        });
        if let Some(span) = header {
            return self.header(span).map(Some);
        }
        let keep_from = self.cutter.open_since().unwrap_or(self.cutter.offset());
        self.kept.drain(..(keep_from - self.kept_from) as usize);
        self.kept_from = keep_from;
        if self.kept.len() > HEADER_BYTES { Err(header_too_long().into()) } else { Ok(None) }
    }

    fn header(&self, span: Span) -> Result<FileHeader, HeaderError> {
        if span.unterminated {
            return Err(unterminated_header().into());
        }
        let header = &self.kept[(span.start - self.kept_from) as usize..(span.content_end - self.kept_from) as usize];
        if header.len() > HEADER_BYTES {
            return Err(header_too_long().into());
        }
        let Reading { encoding, dialect, header_row, .. } = self.reading;
        if encoding.is_utf8() {
            check_utf8(header, span.start)?;
        }
        let header = encoding.decode(header).ok_or_else(|| undecodable_header(encoding))?;
        let mut cells = CellReader::new(dialect);
        let cells = cells.read(header.as_bytes());
        let names: Vec<_> = cells.iter().map(|cell| if header_row == 0 { &[] } else { cell }).collect();
        let (columns, mut issues) = name_columns(&names)?;
        if columns.iter().map(|column| column.len() + NAME_OVERHEAD).sum::<usize>() > HEADER_BYTES {
            return Err(names_too_long().into());
        }
        let start = if header_row == 0 { span.start } else { span.end };
        if header_row == 0 {
            issues.clear();
        }
        Ok(FileHeader { start, columns: Some(columns), rows: Vec::new(), reading: Some(self.reading), issues })
    }
}
