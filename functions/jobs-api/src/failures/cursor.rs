//! Cursor of a page of failures: a byte offset in one version of the file, so that every page costs the same.

use longshore::http::paging;

/// A position in `failed.csv`.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Cursor {
    /// Byte offset of the next row.
    pub(super) offset: u64,
    /// Rows before the offset.
    pub(super) rows: u64,
    /// Entity tag of the file. The position is meaningless in any other version.
    pub(super) etag: String,
}

impl Cursor {
    /// Encodes the cursor for the client.
    pub(super) fn encode(&self) -> String {
        paging::opaque(&format!("{}.{}.{}", self.offset, self.rows, self.etag))
    }

    /// Decodes a client's cursor; `None` if no page can have returned it.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let place = paging::place(text)?;
        let mut parts = place.splitn(3, '.');
        let offset = parts.next()?.parse().ok().filter(|offset| *offset > 0)?;
        let rows = parts.next()?.parse().ok().filter(|rows| *rows > 0)?;
        // The entity tag becomes a header of a request to S3.
        let etag = parts.next().filter(|etag| !etag.is_empty() && etag.bytes().all(|b| b.is_ascii_graphic()))?;
        Some(Self { offset, rows, etag: etag.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_what_no_page_gave_is_refused() {
        let cursor = Cursor { offset: 77, rows: 3, etag: "\"a.b-2\"".into() };
        assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        for bad in ["", "77.0.e", "0.1.e", "1.0.e", "x.1.e", "1.1.", "1.1", "1.1.a\r\nb"] {
            assert_eq!(Cursor::decode(&paging::opaque(bad)), None, "{bad}");
        }
        assert_eq!(Cursor::decode("?"), None);
    }
}
