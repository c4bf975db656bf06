//! The columns of a report's files (the item's number, its own cells, its error), and their layout in a corrected file.
//!
//! Completion writes these columns; the parser of corrected files finds them by their names in the first line. The API
//! checks a file's first bytes, so that a wrong file is refused immediately. The splitter checks again. Both get the
//! same result, because it depends only on these bytes.

use std::borrow::Cow;

use longshore_domain::records::{Delimiter, Dialect, Extent, Format, Span, TextEncoding, csv_records, sniff};
use longshore_tabular::detect_encoding;

use crate::formula::original;
use crate::handler::CellReader;

/// Columns of the error of a failed item.
pub const REPORT_COLUMNS: [&str; 3] = ["code", "field", "message"];

/// Name of the column with the row of a sheet, which only jobs over a workbook have.
pub const SHEET_ROW: &str = "sheet_row";

/// Name of the column of numbers.
const NUMBER: &str = "row";

/// Name of the only column of a raw item.
const RAW: &str = "item";

/// Name of the only column of a record of a dataset.
const KEY: &str = "key";

/// The columns of an item in a report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Columns {
    /// The cells under these columns.
    Named(Vec<String>),
    /// The raw text of a JSON line, or the options of a job without a file.
    Raw,
    /// The key of a record of a dataset.
    Key,
}

impl Columns {
    /// Returns the columns of items of a format; `names` are those of CSV. `None` if the names are unknown.
    pub fn from_names(format: Format, names: Option<Vec<String>>) -> Option<Self> {
        match format {
            Format::Csv => names.map(Self::Named),
            Format::JsonLines => Some(Self::Raw),
        }
    }

    /// Returns the names of the item's own columns.
    pub fn own(&self) -> Vec<&str> {
        match self {
            Self::Named(names) => names.iter().map(String::as_str).collect(),
            Self::Raw => vec![RAW],
            Self::Key => vec![KEY],
        }
    }

    /// Returns the name of the column of numbers.
    pub fn number(&self) -> String {
        free_name(NUMBER, &self.own())
    }

    /// Calls `push` with each cell of an item for a report, before apostrophes are added; `cells` are the cells of its
    /// record. There are as many cells as columns: missing cells are empty, and surplus cells are appended to the last
    /// one, joined by commas.
    pub fn rectangular<'a>(columns: usize, mut cells: impl Iterator<Item = &'a [u8]>, push: &mut impl FnMut(&[u8])) {
        for _ in 1..columns {
            push(cells.next().unwrap_or_default());
        }
        match (cells.next(), cells.next()) {
            (last, None) => push(last.unwrap_or_default()),
            (last, Some(surplus)) => {
                let mut joined = vec![last.unwrap_or_default(), surplus];
                joined.extend(cells);
                push(&joined.join(&b','));
            }
        }
    }
}

/// Returns the key of a record, from the item as JSON; the text itself if it is not a JSON string.
pub fn key_of(item: &[u8]) -> Cow<'_, str> {
    serde_json::from_slice::<String>(item).map_or_else(|_| String::from_utf8_lossy(item), Cow::Owned)
}

/// Returns the name of a report column, with a number appended if the item has a column of that name.
pub fn free_name(name: &str, taken: &[&str]) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_else(|| name.to_owned())
}

/// First bytes of a file that contain its first line: twice the size of the longest header of a source.
pub const HEAD_BYTES: u64 = 512 << 10;

/// Delimiters that spreadsheets write.
const DELIMITERS: [Delimiter; 3] = [Delimiter::Comma, Delimiter::Semicolon, Delimiter::Tab];

/// Maximum number of columns that a message names.
const LISTED: usize = 10;

/// The reason why a file is not a failures file of the job, for the person who uploaded it.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAFailuresFile(pub String);

/// Positions of the columns.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ColumnLayout {
    /// Encoding of the file.
    pub(super) encoding: TextEncoding,
    /// Dialect of the file.
    pub(super) dialect: Dialect,
    /// Index of the column of numbers.
    pub(super) number: usize,
    /// Index of each of the item's own columns, in their order.
    pub(super) own: Vec<usize>,
    /// Number of columns in the first line.
    pub(super) width: usize,
    /// Offset of the first row in bytes.
    pub(super) rows_from: usize,
}

impl ColumnLayout {
    /// Finds the columns in a file's first bytes: up to [`HEAD_BYTES`] of them, or the whole file.
    ///
    /// # Errors
    /// If the file is not text, or its first line lacks the column of numbers or one of the item's own columns.
    pub fn find(header: &[u8], extent: Extent, columns: &Columns) -> Result<Self, NotAFailuresFile> {
        let bom_len = sniff(header, extent).map_err(|error| NotAFailuresFile(error.to_string()))?.bom_len;
        let text = &header[bom_len..];
        let encoding = detected_encoding(header, extent);
        let mut best: Option<FirstLine> = None;
        for delimiter in DELIMITERS {
            let header = FirstLine::read(text, extent, encoding, Dialect { delimiter, ..Dialect::default() })?;
            if header.misses(columns).is_empty() {
                return header.layout(columns, encoding, bom_len);
            }
            // The file's own delimiter results in the most columns. On a tie, the first delimiter is used.
            if best.as_ref().is_none_or(|best| header.names.len() > best.names.len()) {
                best = Some(header);
            }
        }
        let missing = best.map(|header| header.misses(columns)).unwrap_or_default();
        Err(NotAFailuresFile(missing_columns(&missing)))
    }
}

/// Returns the encoding of a file, which is a guess unless it is UTF-8. The API and the splitter detect it in the same
/// bytes.
fn detected_encoding(bytes: &[u8], extent: Extent) -> TextEncoding {
    let head = &bytes[..bytes.len().min(HEAD_BYTES as usize)];
    detect_encoding(head, if head.len() < bytes.len() { Extent::Start } else { extent }).encoding
}

/// A first line, read in one dialect.
struct FirstLine {
    dialect: Dialect,
    names: Vec<String>,
    span: Span,
}

impl FirstLine {
    fn read(text: &[u8], extent: Extent, encoding: TextEncoding, dialect: Dialect) -> Result<Self, NotAFailuresFile> {
        let mut spans = csv_records(dialect, text);
        let span = spans.next().ok_or_else(|| NotAFailuresFile("the file is empty".into()))?;
        if span.unterminated || (extent == Extent::Start && span.end as usize == text.len()) {
            let message = "the first line does not end; check it for a quote that is not closed";
            return Err(NotAFailuresFile(message.into()));
        }
        let unreadable = || NotAFailuresFile(format!("the first line is not {encoding}; save the file as CSV UTF-8"));
        let line = encoding.decode(span.content(text)).ok_or_else(unreadable)?;
        let mut cells = CellReader::new(dialect);
        let names = cells.read(line.as_bytes()).iter().map(name).collect();
        Ok(Self { dialect, names, span })
    }

    fn misses(&self, columns: &Columns) -> Vec<String> {
        let number = columns.number();
        let expected = std::iter::once(number.as_str()).chain(columns.own());
        expected.filter(|name| !self.names.iter().any(|actual| actual == name)).map(str::to_owned).collect()
    }

    /// Returns the layout of a header that lacks no column.
    fn layout(
        &self,
        columns: &Columns,
        encoding: TextEncoding,
        bom_len: usize,
    ) -> Result<ColumnLayout, NotAFailuresFile> {
        let index = |name: &str| {
            let mut indexes = (0..).zip(&self.names).filter(|(_, actual)| *actual == name).map(|(index, _)| index);
            match (indexes.next(), indexes.next()) {
                (Some(index), None) => Ok(index),
                _ => Err(NotAFailuresFile(format!("two columns are called {name:?}; remove or rename one of them"))),
            }
        };
        Ok(ColumnLayout {
            encoding,
            dialect: self.dialect,
            number: index(&columns.number())?,
            own: columns.own().into_iter().map(index).collect::<Result<_, _>>()?,
            width: self.names.len(),
            rows_from: bom_len + self.span.end as usize,
        })
    }
}

/// Returns a column's name without spaces and without the apostrophe that a report adds to formulas.
fn name(cell: &[u8]) -> String {
    String::from_utf8_lossy(&original(cell.trim_ascii(), b',')).into_owned()
}

fn missing_columns(missing: &[String]) -> String {
    let mut names = missing.iter().take(LISTED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if missing.len() > LISTED {
        names.push_str(&format!(" and {} more", missing.len() - LISTED));
    }
    format!(
        "the first line has no column {names}; download the failed rows of this job, correct the cells, and keep the \
         first line"
    )
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
