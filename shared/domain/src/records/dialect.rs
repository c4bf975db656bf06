//! The dialect of a CSV file: the delimiter of its cells, and its quote character.

use serde::{Deserialize, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A character that separates the cells of a record.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Delimiter {
    /// A comma, as in RFC 4180.
    #[default]
    #[serde(rename = ",")]
    Comma,
    /// A semicolon: spreadsheets in countries with a decimal comma write it.
    #[serde(rename = ";")]
    Semicolon,
    /// A tab.
    #[serde(rename = "\t")]
    Tab,
    /// A vertical bar.
    #[serde(rename = "|")]
    Pipe,
}

impl Delimiter {
    /// All delimiters, the most common first.
    pub const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    /// Returns the delimiter's byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
        }
    }

    /// Returns the delimiter with this byte; `None` if there is none.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|delimiter| delimiter.byte() == byte)
    }
}

/// The character around a cell that contains delimiters or line breaks.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Quote {
    /// A double quote, as in RFC 4180.
    #[default]
    #[serde(rename = "\"")]
    Double,
    /// An apostrophe.
    #[serde(rename = "'")]
    Single,
    /// No quotes: a quote is a character of its cell, and every line break ends a record.
    #[serde(rename = "")]
    None,
}

impl Quote {
    /// Returns the quote's byte; `None` if no character quotes.
    pub const fn byte(self) -> Option<u8> {
        match self {
            Self::Double => Some(b'"'),
            Self::Single => Some(b'\''),
            Self::None => None,
        }
    }
}

/// The delimiter and the quote character of a CSV file. The default is that of RFC 4180.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Dialect {
    /// The delimiter of cells.
    pub delimiter: Delimiter,
    /// The quote character.
    pub quote: Quote,
}

// The derive macro escapes the characters twice.
impl PartialSchema for Delimiter {
    fn schema() -> RefOr<Schema> {
        words("A character that separates the cells of a record.", [",", ";", "\t", "|"])
    }
}

impl ToSchema for Delimiter {}

impl PartialSchema for Quote {
    fn schema() -> RefOr<Schema> {
        words(
            "The character around a cell that contains delimiters or line breaks; empty if there is none.",
            ["\"", "'", ""],
        )
    }
}

impl ToSchema for Quote {}

fn words<const N: usize>(description: &str, words: [&str; N]) -> RefOr<Schema> {
    let schema = ObjectBuilder::new().schema_type(Type::String).description(Some(description)).enum_values(Some(words));
    RefOr::T(Schema::Object(schema.build()))
}

#[cfg(test)]
mod tests {
    use super::{Delimiter, Dialect, Quote};

    #[test]
    fn a_dialect_is_stored_as_its_characters() {
        for delimiter in Delimiter::ALL {
            for quote in [Quote::Double, Quote::Single, Quote::None] {
                let dialect = Dialect { delimiter, quote };
                let stored = serde_json::to_value(dialect).unwrap();
                assert_eq!(stored["delimiter"], char::from(delimiter.byte()).to_string());
                assert_eq!(stored["quote"], quote.byte().map(char::from).map_or(String::new(), String::from));
                assert_eq!(serde_json::from_value::<Dialect>(stored).unwrap(), dialect);
            }
        }
    }

    #[test]
    fn a_delimiter_is_found_by_its_byte() {
        assert_eq!(Delimiter::from_byte(b'|'), Some(Delimiter::Pipe));
        assert_eq!(Delimiter::from_byte(b':'), None);
    }
}
