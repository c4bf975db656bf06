//! The part of the source that was never split because the job was stopped before: streamed record by record.

use longshore_domain::job::SourceFile;
use longshore_domain::ports::{FileStream, Files, Read};
use longshore_domain::records::{Cutter, Span};

use super::table::Table;
use crate::CompleteError;

/// A longer record is listed by its number alone, so that one endless row does not fill the memory. The same as the
/// longest item that a job type takes by default.
const ROW_BYTES: u64 = 16 << 20;

/// Writes a row for each record of the source from byte `start` on, numbered from `first`; false if the source is
/// not there any more as it was.
pub(super) async fn write_rest<F: Files>(
    table: &mut Table<'_, F>,
    files: &F,
    source: &SourceFile,
    (start, first): (u64, u64),
) -> Result<bool, CompleteError> {
    if start >= source.size_bytes {
        return Ok(true);
    }
    let Read::Found(mut stream) = files.open(&source.key, Some(&source.etag), start, None).await? else {
        return Ok(false);
    };
    let mut rest = Rest { cutter: Cutter::starting_at(source.format, start), kept: Vec::new(), kept_from: start };
    let mut numbers = first..;
    while let Some(block) = stream.next().await? {
        for (span, number) in rest.feed(&block).into_iter().zip(&mut numbers) {
            table.row(number, rest.content(span), &[]).await?;
        }
        rest.forget();
    }
    if let (Some(span), Some(number)) = (rest.cutter.finish(), numbers.next()) {
        table.row(number, rest.content(span), &[]).await?;
    }
    Ok(true)
}

struct Rest {
    cutter: Cutter,
    /// Bytes from `kept_from` to the cutter's offset: a block, and before it the record that was open.
    kept: Vec<u8>,
    kept_from: u64,
}

impl Rest {
    /// Takes a block; the records that have ended with it.
    fn feed(&mut self, block: &[u8]) -> Vec<Span> {
        self.kept.extend_from_slice(block);
        let mut spans = Vec::new();
        self.cutter.feed(block, &mut |span| spans.push(span));
        spans
    }

    /// A record's bytes; none of one that is too long.
    fn content(&self, span: Span) -> &[u8] {
        let range = span.start.checked_sub(self.kept_from).zip(span.content_end.checked_sub(self.kept_from));
        let kept = range.and_then(|(start, end)| self.kept.get(start as usize..end as usize));
        kept.filter(|bytes| bytes.len() as u64 <= ROW_BYTES).unwrap_or_default()
    }

    /// Drops what is not needed again, and the beginning of a record that is too long already.
    fn forget(&mut self) {
        let needed = self.cutter.open_since().unwrap_or(self.cutter.offset());
        // Two bytes may be a terminator of which the end is not yet known.
        let too_long = self.cutter.offset() - needed > ROW_BYTES + 2;
        let keep_from = if too_long { self.cutter.offset() } else { needed };
        self.kept.drain(..(keep_from.saturating_sub(self.kept_from)) as usize);
        self.kept_from = keep_from;
    }
}
