//! The attributes with which a cell begins.

use quick_xml::events::BytesStart;

use crate::error::WorkbookError;

/// Columns of a sheet in Excel.
pub(crate) const SHEET_COLUMNS: usize = 16_384;

/// The attributes of a cell.
pub(crate) struct CellStart {
    /// Index of its column, if it names one.
    pub(crate) column: Option<usize>,
    /// Index of its format.
    pub(crate) format: usize,
    /// Its type.
    pub(crate) kind: StoredType,
}

/// The type of a cell, which says what its text is.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum StoredType {
    /// Index of a shared string.
    Shared,
    /// Text.
    Inline,
    /// Text that a formula has computed.
    Computed,
    /// `0` or `1`.
    Boolean,
    /// An error such as `#N/A`.
    Error,
    /// A date in ISO 8601.
    IsoDate,
    /// A number.
    Number,
}

impl StoredType {
    /// Returns the type with this name. Everything else is a number, as cells without a type are.
    fn named(name: &str) -> Self {
        match name {
            "s" => Self::Shared,
            "inlineStr" => Self::Inline,
            "str" => Self::Computed,
            "b" => Self::Boolean,
            "e" => Self::Error,
            "d" => Self::IsoDate,
            _ => Self::Number,
        }
    }
}

impl CellStart {
    pub(crate) fn new(element: &BytesStart<'_>) -> Result<Self, WorkbookError> {
        let mut start = Self { column: None, format: 0, kind: StoredType::Number };
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute.map_err(WorkbookError::damaged)?;
            match attribute.key.as_ref() {
                "r" => start.column = Some(column(&attribute.value)?),
                "s" => start.format = attribute.value.parse().unwrap_or_default(),
                "t" => start.kind = StoredType::named(&attribute.value),
                _ => {}
            }
        }
        Ok(start)
    }
}

/// Returns the index of the column of a reference such as `AB12`.
fn column(reference: &str) -> Result<usize, WorkbookError> {
    let name = reference.bytes().take_while(u8::is_ascii_alphabetic).take(4);
    let column = name.fold(0, |column, digit| column * 26 + usize::from(digit.to_ascii_uppercase() - b'A') + 1);
    match column {
        1..=SHEET_COLUMNS => Ok(column - 1),
        _ => Err(WorkbookError::damaged("a cell is outside of its sheet")),
    }
}

#[cfg(test)]
mod tests {
    use super::column;

    #[test]
    fn a_column_is_found_by_its_name() {
        for (reference, expected) in
            [("A1", Some(0)), ("Z9", Some(25)), ("AA1", Some(26)), ("xfd1048576", Some(16_383))]
        {
            assert_eq!(column(reference).ok(), expected, "{reference}");
        }
        for reference in ["XFE1", "AAAA1", "AAAAAAAAAAAAAAAAAAAAAAAA1", "1", ""] {
            assert!(column(reference).is_err(), "{reference}");
        }
    }
}
