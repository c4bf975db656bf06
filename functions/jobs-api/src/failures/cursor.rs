//! Where a page of failures begins: a byte of one very file, so that a page costs the same wherever it lies.

use longshore::http::paging;

/// A place in `failed.csv`.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Cursor {
    /// The byte at which the next row begins.
    pub(super) offset: u64,
    /// Rows before it.
    pub(super) rows: u64,
    /// The entity tag of the file: of another file the place means nothing.
    pub(super) etag: String,
}

impl Cursor {
    /// As a client sees it.
    pub(super) fn encode(&self) -> String {
        paging::opaque(&format!("{}.{}.{}", self.offset, self.rows, self.etag))
    }

    /// Reads what a client sent; none if no page can have given it.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let place = paging::place(text)?;
        let mut parts = place.splitn(3, '.');
        let offset = parts.next()?.parse().ok().filter(|offset| *offset > 0)?;
        let rows = parts.next()?.parse().ok().filter(|rows| *rows > 0)?;
        // It becomes a header of a request to S3.
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
