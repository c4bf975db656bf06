//! File formats: CSV and JSON Lines, and the guess from a file's name and content type.
//!
//! Browsers send an empty or wrong content type for most data files, so the guess uses both the name and the type.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The format of a file's records.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, ToSchema)]
pub enum Format {
    /// Comma-separated values with double quotes; written `csv`.
    #[serde(rename = "csv")]
    Csv,
    /// One JSON value per line; written `jsonl`.
    #[serde(rename = "jsonl")]
    JsonLines,
}

/// Extensions of compressed files, before which the format's own one stands.
const COMPRESSED_EXTENSIONS: [&str; 3] = ["gz", "zst", "zip"];

const WORKBOOK_EXTENSIONS: [&str; 3] = ["xlsx", "xlsm", "xls"];

const JSON_LINES_EXTENSIONS: [&str; 2] = ["jsonl", "ndjson"];

/// Content types of JSON Lines. None is registered, so all that are in use are accepted.
const JSON_LINES_TYPES: [&str; 6] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonl",
    "application/jsonlines",
    "application/x-jsonlines",
];

impl Format {
    /// Returns the format that a file's name or content type announces; [`Format::Csv`] when neither says JSON Lines.
    ///
    /// Case and parameters of the content type (`; charset=utf-8`) do not matter. The bytes are not read.
    pub fn from_file(file_name: &str, content_type: &str) -> Self {
        let (mut stem, mut extension) = parts(file_name);
        while is_one_of(extension, &COMPRESSED_EXTENSIONS) {
            (stem, extension) = parts(stem);
        }
        let media_type = content_type.split(';').next().unwrap_or_default();
        if is_one_of(extension, &JSON_LINES_EXTENSIONS) || is_one_of(media_type, &JSON_LINES_TYPES) {
            Self::JsonLines
        } else {
            Self::Csv
        }
    }
}

/// Returns true if a file's name announces that its size is that of compressed data: an archive, or a workbook. The
/// bytes are not read.
pub fn is_compressed_name(file_name: &str) -> bool {
    let (_, extension) = parts(file_name);
    is_one_of(extension, &COMPRESSED_EXTENSIONS) || is_one_of(extension, &WORKBOOK_EXTENSIONS)
}

/// Returns a name without its extension, and the extension.
fn parts(file_name: &str) -> (&str, &str) {
    file_name.rsplit_once('.').unwrap_or((file_name, ""))
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word.trim()))
}

#[cfg(test)]
mod tests {
    use super::{Format, is_compressed_name};

    #[test]
    fn archives_and_workbooks_are_known_by_their_names() {
        for (name, expected) in [
            ("people.csv.gz", true),
            ("PEOPLE.JSONL.ZST", true),
            ("people.zip", true),
            ("People.XLSX", true),
            ("people.csv", false),
            ("gz", false),
            ("", false),
        ] {
            assert_eq!(is_compressed_name(name), expected, "{name}");
        }
    }

    #[test]
    fn the_format_follows_from_name_or_content_type() {
        let table = [
            ("people.csv", "text/csv", Format::Csv),
            ("people.jsonl", "", Format::JsonLines),
            ("PEOPLE.NDJSON", "application/octet-stream", Format::JsonLines),
            ("people.jsonl.gz", "application/gzip", Format::JsonLines),
            ("people.NDJSON.ZST", "", Format::JsonLines),
            ("people.csv.gz", "", Format::Csv),
            ("jsonl.zip", "", Format::Csv),
            ("gz.gz", "", Format::Csv),
            ("people", "application/x-ndjson", Format::JsonLines),
            ("people.txt", "Application/JSONL; charset=utf-8", Format::JsonLines),
            ("people.txt", "application/x-jsonlines ; charset=utf-8", Format::JsonLines),
            ("jsonl", "text/plain", Format::Csv),
            ("people.jsonl.csv", "application/json", Format::Csv),
            ("", "", Format::Csv),
        ];
        for (name, content_type, expected) in table {
            assert_eq!(Format::from_file(name, content_type), expected, "{name:?} {content_type:?}");
        }
    }

    #[test]
    fn formats_are_written_as_their_file_extensions() {
        for (format, text) in [(Format::Csv, "\"csv\""), (Format::JsonLines, "\"jsonl\"")] {
            assert_eq!(serde_json::to_string(&format).unwrap(), text);
            assert_eq!(serde_json::from_str::<Format>(text).unwrap(), format);
        }
    }
}
