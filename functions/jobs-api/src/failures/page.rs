//! Fills a page from `failed.csv` by ranged reads of one entity tag. Memory and time depend on the page, not on the
//! file.

use longshore::field_error::FieldError;
use longshore::http::{Failure, paging};
use longshore::problem::Problem;
use longshore_domain::job::Job;
use longshore_domain::ports::{FileStream, Files, PortError, Read};

use super::rows::{Damaged, FailuresDocument, ItemLayout, Row, Rows};
use crate::output::stored::no_report;

/// Size in bytes of a ranged read: about one usual page.
const BLOCK_BYTES: u64 = 256 << 10;

/// Size in bytes of the first read of the header.
const HEADER_BYTES: u64 = 16 << 10;

/// Maximum JSON bytes of a page. A Lambda response has at most 6 MB, and the JSON is escaped once more inside it.
const PAGE_BYTES: usize = 2 << 20;

/// The file of a job's failed items.
pub(super) struct FailedFile<'a, F> {
    pub(super) files: &'a F,
    pub(super) job: &'a Job,
    pub(super) key: &'a str,
    /// Rows below the header.
    pub(super) rows: u64,
}

impl<F: Files> FailedFile<'_, F> {
    /// Returns up to `limit` failures after a cursor, or from the beginning; fewer if they are large.
    ///
    /// # Errors
    /// If the file no longer exists, has another entity tag than the cursor, or is not in the format that completion
    /// writes.
    pub(super) async fn page(
        &self,
        limit: usize,
        after: Option<FailuresCursor>,
    ) -> Result<FailuresDocument, PageError> {
        let etag = match &after {
            Some(cursor) => cursor.etag.clone(),
            None => self.files.info(self.key).await?.ok_or(PageError::Absent)?.etag,
        };
        let block_bytes = if after.is_some() { HEADER_BYTES } else { BLOCK_BYTES };
        let mut reader = BlockReader::new(self, &etag, 0, block_bytes);
        let layout = ItemLayout::new(self.job, &reader.row().await?)?;
        let Some(cursor) = after else { return self.fill(limit, &layout, reader, 0).await };
        let reader = BlockReader::new(self, &etag, cursor.offset, BLOCK_BYTES);
        self.fill(limit, &layout, reader, cursor.rows).await.map_err(|error| match error {
            // The header was valid, so the cursor was forged.
            PageError::Damaged(_) => PageError::InvalidCursor,
            error => error,
        })
    }

    /// Fills a page from the reader; `read` is the number of rows before it.
    async fn fill(
        &self,
        limit: usize,
        layout: &ItemLayout,
        mut reader: BlockReader<'_, F>,
        mut read: u64,
    ) -> Result<FailuresDocument, PageError> {
        let (mut page, mut bytes) = (FailuresDocument::default(), 0);
        while read < self.rows && page.failures.len() < limit {
            let before = reader.rows.offset();
            let failure = layout.failure(&reader.row().await?)?;
            bytes += serde_json::to_vec(&failure).map_or(0, |json| json.len());
            if bytes > PAGE_BYTES && !page.failures.is_empty() {
                page.next_cursor = Some(reader.cursor(before, read).encode());
                return Ok(page);
            }
            page.failures.push(failure);
            read += 1;
        }
        let next = (read < self.rows).then(|| reader.cursor(reader.rows.offset(), read));
        page.next_cursor = next.map(|next| next.encode());
        Ok(page)
    }
}

/// A reader of a file in blocks.
struct BlockReader<'a, F> {
    file: &'a FailedFile<'a, F>,
    etag: String,
    rows: Rows,
    block: Vec<u8>,
    /// Consumed bytes of the current block.
    used: usize,
    /// Offset of the next block.
    next: u64,
    block_bytes: u64,
}

impl<'a, F: Files> BlockReader<'a, F> {
    fn new(file: &'a FailedFile<'a, F>, etag: &str, start: u64, block_bytes: u64) -> Self {
        let rows = Rows::starting_at(start);
        Self { file, etag: etag.to_owned(), rows, block: Vec::new(), used: 0, next: start, block_bytes }
    }

    /// Creates the cursor at this offset, after this number of rows.
    fn cursor(&self, offset: u64, rows: u64) -> FailuresCursor {
        FailuresCursor { offset, rows, etag: self.etag.clone() }
    }

    async fn row(&mut self) -> Result<Row, PageError> {
        loop {
            let mut unread = &self.block[self.used..];
            let row = self.rows.take(&mut unread);
            self.used = self.block.len() - unread.len();
            match row {
                Some(row) => return Ok(row),
                None => self.fetch().await?,
            }
        }
    }

    async fn fetch(&mut self) -> Result<(), PageError> {
        let FailedFile { files, key, .. } = self.file;
        let range = (self.next, Some(self.next.saturating_add(self.block_bytes)));
        let mut stream = match files.open(key, Some(&self.etag), range.0, range.1).await? {
            Read::Found(stream) => stream,
            Read::Absent => return Err(PageError::Absent),
            Read::Changed => return Err(PageError::Changed),
        };
        (self.block, self.used) = (Vec::new(), 0);
        while let Some(bytes) = stream.next().await? {
            self.block.extend_from_slice(&bytes);
        }
        self.next += self.block.len() as u64;
        self.block_bytes = BLOCK_BYTES;
        // The file ended before its last row.
        if self.block.is_empty() { Err(Damaged.into()) } else { Ok(()) }
    }
}

/// A position in `failed.csv`.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct FailuresCursor {
    /// Byte offset of the next row.
    offset: u64,
    /// Rows before the offset.
    rows: u64,
    /// Entity tag of the file. The position is meaningless in any other version.
    etag: String,
}

impl FailuresCursor {
    /// Encodes the cursor for the client.
    fn encode(&self) -> String {
        paging::encode_cursor(&format!("{}.{}.{}", self.offset, self.rows, self.etag))
    }

    /// Decodes a client's cursor; `None` if no page can have returned it.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let position = paging::decode_cursor(text)?;
        let mut parts = position.splitn(3, '.');
        let offset = parts.next()?.parse().ok().filter(|offset| *offset > 0)?;
        let rows = parts.next()?.parse().ok().filter(|rows| *rows > 0)?;
        // The entity tag becomes a header of a request to S3.
        let etag = parts.next().filter(|etag| !etag.is_empty() && etag.bytes().all(|b| b.is_ascii_graphic()))?;
        Some(Self { offset, rows, etag: etag.to_owned() })
    }
}

/// Reasons for which a page cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("failed.csv no longer exists")]
    Absent,
    #[error("failed.csv is not the version that the cursor refers to")]
    Changed,
    #[error("the cursor does not point to a row of failed.csv")]
    InvalidCursor,
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error(transparent)]
    Port(#[from] PortError),
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Absent => no_report().into(),
            PageError::Changed => {
                let detail = "the failed items have changed; start again without a cursor";
                Problem::invalid(vec![FieldError::new("/cursor", "stale_cursor", detail)]).into()
            }
            PageError::InvalidCursor => Problem::invalid(vec![paging::bad_cursor()]).into(),
            PageError::Damaged(error) => Self::Internal(Box::new(error)),
            PageError::Port(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_decoded_and_an_invalid_one_is_refused() {
        let cursor = FailuresCursor { offset: 77, rows: 3, etag: "\"a.b-2\"".into() };
        assert_eq!(FailuresCursor::decode(&cursor.encode()), Some(cursor));
        for bad in ["", "77.0.e", "0.1.e", "1.0.e", "x.1.e", "1.1.", "1.1", "1.1.a\r\nb"] {
            assert_eq!(FailuresCursor::decode(&paging::encode_cursor(bad)), None, "{bad}");
        }
        assert_eq!(FailuresCursor::decode("?"), None);
    }
}
