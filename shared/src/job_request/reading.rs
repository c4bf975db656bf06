//! The member `reading` of a request: how an uploaded file is read. What it does not say is found in the file.

use longshore_domain::records::{Delimiter, Format, GivenReading, GivenSheet, Quote, TextEncoding};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::field_error::FieldError;
use crate::http::{Bad, Checked, Fields};

/// Highest number of a sheet, and maximum length of its name. Excel permits 31 characters, and other programs more.
const MAX_SHEET: u32 = 10_000;
const MAX_SHEET_NAME_CHARS: usize = 255;

/// Highest number of a header row.
const MAX_HEADER_ROW: u32 = 1_000;

/// How the file is read. Each member that is absent is found in the file.
#[derive(Clone, Eq, PartialEq, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadingRequest {
    /// Format of the file. Without it, the name and the content type of the upload decide. JSON Lines is UTF-8 and has
    /// no other member.
    #[serde(default)]
    #[schema(value_type = Option<Format>)]
    format: Option<String>,
    /// Encoding of the text, by a name of the [Encoding Standard](https://encoding.spec.whatwg.org).
    #[serde(default)]
    #[schema(examples("utf-8", "windows-1252", "shift_jis"))]
    encoding: Option<String>,
    /// Delimiter of the cells: comma, semicolon, tab or vertical bar.
    #[serde(default)]
    #[schema(value_type = Option<Delimiter>)]
    delimiter: Option<String>,
    /// Character around cells that contain delimiters or line breaks; `""` if there is none.
    #[serde(default)]
    #[schema(value_type = Option<Quote>)]
    quote: Option<String>,
    /// Row with the names of the columns: 1 is the first one; 0 if the file has no header. Blank rows and comments do
    /// not count. The rows above it are not processed.
    #[serde(default)]
    #[schema(value_type = Option<u32>, maximum = 1000)]
    header_row: Option<Value>,
    /// Character at the beginning of rows that are not processed. No file shows it, so there is none by default.
    #[serde(default)]
    #[schema(examples("#"), min_length = 1, max_length = 1)]
    comment: Option<String>,
    /// Sheet of a workbook, by its name or its number: 1 is the first one. Without it, the first visible sheet is read.
    #[serde(default)]
    #[schema(value_type = Option<GivenSheet>)]
    sheet: Option<Value>,
}

/// The reading that a request gives.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize)]
pub struct ParsedReading {
    /// The format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The reading of CSV.
    #[serde(flatten)]
    pub csv: GivenReading,
    /// The sheet of a workbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<GivenSheet>,
}

impl ParsedReading {
    /// Returns true if nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads the member of a request with or without a file. Returns nothing given for one that is not valid.
pub fn read_reading(fields: &mut Fields, has_file: bool) -> ParsedReading {
    let Some(read) = fields.optional("reading", |value| Ok(parse(value))) else { return ParsedReading::default() };
    match read {
        Ok(reading) if !has_file && !reading.is_empty() => {
            let detail = "reading is about the file of the job; remove it, or send fileGuid";
            fields.refuse("reading", &Bad::new("reading_not_allowed", detail));
            ParsedReading::default()
        }
        Ok(reading) => reading,
        Err(errors) => {
            fields.refuse_all(errors);
            ParsedReading::default()
        }
    }
}

fn parse(value: &Value) -> Result<ParsedReading, Vec<FieldError>> {
    let request: ReadingRequest = FieldError::read_object("/reading", value, "invalid_type")?;
    let mut errors = Vec::new();
    let ReadingRequest { format, encoding, delimiter, quote, header_row, comment, sheet } = request;
    let format = member(&mut errors, "format", format, |format| check_word(&format, bad_format));
    let csv = GivenReading {
        encoding: member(&mut errors, "encoding", encoding, |label| check_encoding(&label)),
        delimiter: member(&mut errors, "delimiter", delimiter, |text| check_word(&text, bad_delimiter)),
        quote: member(&mut errors, "quote", quote, |text| check_word(&text, bad_quote)),
        header_row: member(&mut errors, "headerRow", header_row, |row| check_header_row(&row)),
        comment: member(&mut errors, "comment", comment, |text| check_comment(&text)),
    };
    let sheet = member(&mut errors, "sheet", sheet, check_sheet);
    if format == Some(Format::JsonLines) && (!csv.is_empty() || sheet.is_some()) {
        errors.push(FieldError::new("/reading/format", "reading_not_allowed", not_for_json_lines().detail));
    }
    if let (Some(encoding), Some(delimiter)) = (csv.encoding, csv.delimiter)
        && !encoding.permits(delimiter)
    {
        let detail = format!("in {encoding}, the byte of this delimiter can be a part of another character");
        errors.push(FieldError::new("/reading/delimiter", "invalid_delimiter", detail));
    }
    if errors.is_empty() { Ok(ParsedReading { format, csv, sheet }) } else { Err(errors) }
}

/// Checks a member. An error is added to `errors`.
fn member<T, U>(
    errors: &mut Vec<FieldError>,
    name: &str,
    value: Option<T>,
    check: impl FnOnce(T) -> Checked<U>,
) -> Option<U> {
    value.and_then(|value| {
        check(value).map_err(|bad| errors.push(FieldError::new(format!("/reading/{name}"), bad.code, bad.detail))).ok()
    })
}

/// Returns the error of a reading of CSV for a file that is JSON Lines.
pub(super) fn not_for_json_lines() -> Bad {
    let detail = "the file is JSON Lines, which is UTF-8 without columns; remove the other members of reading, or send \
                  format csv";
    Bad::new("reading_not_allowed", detail)
}

fn check_word<T: for<'de> Deserialize<'de>>(text: &str, bad: fn() -> Bad) -> Checked<T> {
    serde_json::from_value(text.into()).map_err(|_| bad())
}

fn bad_format() -> Bad {
    Bad::new("invalid_format", "format must be csv or jsonl")
}

fn bad_delimiter() -> Bad {
    Bad::new("invalid_delimiter", "delimiter must be a comma, a semicolon, a tab or a vertical bar")
}

fn bad_quote() -> Bad {
    Bad::new("invalid_quote", "quote must be a double quote, an apostrophe, or empty if there is none")
}

fn check_encoding(label: &str) -> Checked<TextEncoding> {
    let encoding = TextEncoding::named(label).map_err(|unknown| Bad::new("unknown_encoding", unknown.to_string()))?;
    if encoding.is_utf16() {
        let detail =
            "UTF-16 is recognized by its byte order mark; remove encoding, or save a file without the mark as UTF-8";
        return Err(Bad::new("unknown_encoding", detail));
    }
    Ok(encoding)
}

fn check_header_row(row: &Value) -> Checked<u32> {
    let row = row.as_u64().and_then(|row| u32::try_from(row).ok()).filter(|row| *row <= MAX_HEADER_ROW);
    row.ok_or_else(|| {
        let detail = format!("headerRow must be a whole number from 0 (no header) to {MAX_HEADER_ROW}");
        Bad::new("out_of_range", detail)
    })
}

fn check_sheet(sheet: Value) -> Checked<GivenSheet> {
    let is_possible = |sheet: &GivenSheet| match sheet {
        GivenSheet::Number(number) => (1..=MAX_SHEET).contains(number),
        GivenSheet::Name(name) => (1..=MAX_SHEET_NAME_CHARS).contains(&name.chars().count()),
    };
    serde_json::from_value(sheet).ok().filter(is_possible).ok_or_else(|| {
        let detail = format!(
            "sheet must be the name of a sheet, of up to {MAX_SHEET_NAME_CHARS} characters, or its number from 1 to \
             {MAX_SHEET}"
        );
        Bad::new("out_of_range", detail)
    })
}

fn check_comment(text: &str) -> Checked<char> {
    let mut characters = text.chars();
    let comment = characters.next().filter(|_| characters.next().is_none());
    let is_free = |c: &char| c.is_ascii_punctuation() && !matches!(c, ',' | ';' | '|' | '"' | '\'');
    comment.filter(is_free).ok_or_else(|| {
        let detail = "comment must be one punctuation character of ASCII, such as #, that is no delimiter and no quote";
        Bad::new("invalid_comment", detail)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(value: Value) -> Vec<(String, String)> {
        let errors = parse(&value).err().unwrap_or_default();
        errors.into_iter().map(|error| (error.pointer, error.code)).collect()
    }

    #[test]
    fn a_reading_is_parsed() {
        let given = json!({"encoding": "latin1", "delimiter": ";", "quote": "", "headerRow": 0, "comment": "#"});
        let parsed = parse(&given).unwrap();
        assert_eq!(parsed.format, None);
        assert_eq!(parsed.csv.encoding.map(TextEncoding::name), Some("windows-1252"));
        assert_eq!((parsed.csv.delimiter, parsed.csv.quote), (Some(Delimiter::Semicolon), Some(Quote::None)));
        assert_eq!((parsed.csv.header_row, parsed.csv.comment), (Some(0), Some('#')));
        assert_eq!(parse(&json!({"format": "jsonl"})).unwrap().format, Some(Format::JsonLines));
        assert!(parse(&json!({})).unwrap().is_empty());
    }

    #[test]
    fn each_member_has_its_own_error() {
        for (value, expected) in [
            (json!(1), ("/reading", "invalid_type")),
            (json!({"separator": ";"}), ("/reading/separator", "unknown_field")),
            (json!({"delimiter": 1}), ("/reading/delimiter", "invalid_type")),
            (json!({"format": "xlsx"}), ("/reading/format", "invalid_format")),
            (json!({"encoding": "ebcdic"}), ("/reading/encoding", "unknown_encoding")),
            (json!({"encoding": "utf-16"}), ("/reading/encoding", "unknown_encoding")),
            (json!({"delimiter": ":"}), ("/reading/delimiter", "invalid_delimiter")),
            (json!({"delimiter": "|", "encoding": "gbk"}), ("/reading/delimiter", "invalid_delimiter")),
            (json!({"quote": "`"}), ("/reading/quote", "invalid_quote")),
            (json!({"headerRow": 1001}), ("/reading/headerRow", "out_of_range")),
            (json!({"headerRow": -1}), ("/reading/headerRow", "out_of_range")),
            (json!({"headerRow": "1"}), ("/reading/headerRow", "out_of_range")),
            (json!({"sheet": 0}), ("/reading/sheet", "out_of_range")),
            (json!({"sheet": ""}), ("/reading/sheet", "out_of_range")),
            (json!({"sheet": -1}), ("/reading/sheet", "out_of_range")),
            (json!({"sheet": true}), ("/reading/sheet", "out_of_range")),
            (json!({"format": "jsonl", "sheet": 1}), ("/reading/format", "reading_not_allowed")),
            (json!({"comment": "//"}), ("/reading/comment", "invalid_comment")),
            (json!({"comment": ";"}), ("/reading/comment", "invalid_comment")),
            (json!({"comment": "x"}), ("/reading/comment", "invalid_comment")),
            (json!({"format": "jsonl", "quote": ""}), ("/reading/format", "reading_not_allowed")),
        ] {
            assert_eq!(errors(value.clone()), [(expected.0.to_owned(), expected.1.to_owned())], "{value}");
        }
        assert_eq!(errors(json!({"quote": "x", "comment": ""})).len(), 2);
    }
}
