//! The reading of a CSV file: what turns its bytes into rows and columns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::cutter::Cutter;
use super::dialect::{Delimiter, Dialect, Quote};
use super::encoding::TextEncoding;

/// The reading of a CSV file, found in its first bytes or given by the client. It holds for the whole file.
///
/// A row without any text is no record: spreadsheet programs write rows of delimiters. A row that begins with the
/// comment character is none either.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FileReading)]
pub struct Reading {
    /// The encoding of the text, as a name of the Encoding Standard.
    #[schema(value_type = String, examples("UTF-8", "windows-1252"))]
    pub encoding: TextEncoding,
    /// The delimiter and the quote character.
    #[serde(flatten)]
    pub dialect: Dialect,
    /// The record with the names of the columns: 1 is the first one; 0 if the file has no header.
    pub header_row: u32,
    /// The character that begins a comment row, in ASCII.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 1)]
    pub comment: Option<char>,
}

impl Default for Reading {
    /// UTF-8 with commas, double quotes and a header, as in RFC 4180.
    fn default() -> Self {
        Self { encoding: TextEncoding::default(), dialect: Dialect::default(), header_row: 1, comment: None }
    }
}

impl Reading {
    /// Returns true if records are UTF-8 with commas and double quotes, so that they are the same in every report.
    pub fn is_plain(&self) -> bool {
        self.encoding.is_utf8() && self.dialect == Dialect::default()
    }

    /// Creates a cutter whose first byte is at `offset` of the file; see [`Cutter::starting_at`].
    pub fn cutter(&self, offset: u64) -> Cutter {
        Cutter::reading(self, offset)
    }
}

/// The parts of a reading that the client has given. The others are found in the file.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenReading {
    /// The encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
    /// The delimiter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// The quote character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// The header row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_row: Option<u32>,
    /// The comment character. No file shows it, so there is none unless it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<char>,
}

impl GivenReading {
    /// Returns true if nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<Reading> for GivenReading {
    fn from(Reading { encoding, dialect: Dialect { delimiter, quote }, header_row, comment }: Reading) -> Self {
        let (delimiter, quote, header_row) = (Some(delimiter), Some(quote), Some(header_row));
        Self { encoding: Some(encoding), delimiter, quote, header_row, comment }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reading_is_stored_by_names_and_characters() {
        let dialect = Dialect { delimiter: Delimiter::Semicolon, quote: Quote::Single };
        let encoding = TextEncoding::named("latin1").unwrap();
        let reading = Reading { encoding, dialect, header_row: 3, comment: Some('#') };
        let stored =
            json!({"encoding": "windows-1252", "delimiter": ";", "quote": "'", "headerRow": 3, "comment": "#"});
        assert_eq!(serde_json::to_value(reading).unwrap(), stored);
        assert_eq!(serde_json::from_value::<Reading>(stored.clone()).unwrap(), reading);
        let given = GivenReading { delimiter: Some(Delimiter::Tab), ..GivenReading::default() };
        assert_eq!(serde_json::to_value(given).unwrap(), json!({"delimiter": "\t"}));
        assert_eq!(serde_json::from_value::<GivenReading>(stored).unwrap().encoding, Some(encoding));
    }

    #[test]
    fn rows_without_text_and_comments_are_no_records() {
        let semicolon = Dialect { delimiter: Delimiter::Semicolon, ..Dialect::default() };
        let reading = Reading { dialect: semicolon, comment: Some('#'), ..Reading::default() };
        let text = b";;\n#a;\"b\n \t\nx;#\n;;\r\n #\r;\"\n\"\n  ;c\n#";
        for block in [1, 2, 3, 100] {
            let (mut cutter, mut spans) = (reading.cutter(0), Vec::new());
            text.chunks(block).for_each(|block| cutter.feed(block, &mut |span| spans.push(span)));
            spans.extend(cutter.finish());
            let found: Vec<_> = spans.iter().map(|span| span.content(text)).collect();
            assert_eq!(found, [&b"x;#"[..], b" #", b";\"\n\"", b"  ;c"], "blocks of {block}");
        }
    }
}
