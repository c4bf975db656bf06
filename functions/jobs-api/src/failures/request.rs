//! Parameters of a read of failed items: a page, or the whole file.

use axum::http::{HeaderMap, header};
use longshore::field_error::FieldError;
use longshore::http::{QueryText, paging};
use longshore::problem::Problem;

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size. A page is also limited by bytes.
const MAX_LIMIT: usize = 1_000;

/// A client's request for failed items.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum FailuresRequest {
    /// The whole file, as CSV.
    File,
    /// A page, as JSON.
    Page {
        /// Maximum number of failures.
        limit: usize,
        /// Position after which the page begins.
        after: Option<FailuresCursor>,
    },
}

impl FailuresRequest {
    /// Reads the parameters. Without `format`, the header `Accept` decides.
    ///
    /// # Errors
    /// 422 with every bad parameter.
    pub(super) fn read(query: &QueryText, headers: &HeaderMap) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let csv = match query.get("format") {
            None => prefers_csv(headers),
            Some("csv") => true,
            Some("json") => false,
            Some(_) => {
                errors.push(FieldError::new("/format", "unknown_format", "format must be json or csv"));
                false
            }
        };
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        let after = query.get("cursor").and_then(|text| {
            let cursor = FailuresCursor::decode(text);
            errors.extend(cursor.is_none().then(paging::bad_cursor));
            cursor
        });
        match csv {
            _ if !errors.is_empty() => Err(Problem::invalid(errors)),
            true => Ok(Self::File),
            false => Ok(Self::Page { limit, after }),
        }
    }
}

/// Returns true if `Accept` (RFC 9110) ranks CSV above JSON.
fn prefers_csv(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = lists.flat_map(|list| list.split(',')).filter_map(range).collect();
    let quality = |names: [&str; 3]| {
        let named = names.iter().find_map(|name| ranges.iter().find(|(media, _)| media == name));
        named.map_or(0.0, |(_, quality)| *quality)
    };
    quality(["text/csv", "text/*", "*/*"]) > quality(["application/json", "application/*", "*/*"])
}

/// Parses a media range and its quality.
fn range(text: &str) -> Option<(String, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next()?.to_ascii_lowercase();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some((media, quality.map_or(Some(1.0), |quality| quality.parse().ok())?))
}

/// A position in `failed.csv`.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct FailuresCursor {
    /// Byte offset of the next row.
    pub(super) offset: u64,
    /// Rows before the offset.
    pub(super) rows: u64,
    /// Entity tag of the file. The position is meaningless in any other version.
    pub(super) etag: String,
}

impl FailuresCursor {
    /// Encodes the cursor for the client.
    pub(super) fn encode(&self) -> String {
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

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header};

    use super::*;

    #[test]
    fn csv_is_returned_if_accept_ranks_it_above_json() {
        for (accept, expected) in [
            ("text/csv", true),
            ("Text/CSV; charset=utf-8", true),
            ("text/csv, application/json;q=0.9", true),
            ("text/csv;q=0.5, */*", false),
            ("text/*", true),
            ("application/json", false),
            ("application/json, text/csv", false),
            ("text/csv;q=0", false),
            ("text/html", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_csv(&headers), expected, "{accept}");
        }
        assert!(!prefers_csv(&HeaderMap::new()));
    }

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
