//! The columns of a report's files: the item's number, its own cells, and its error.
//!
//! Shared by completion, which writes these columns, and the parser of corrected files.

use longshore_domain::records::Format;

/// Columns of the error of a failed item.
pub const REPORT_COLUMNS: [&str; 3] = ["code", "field", "message"];

/// Name of the column of numbers.
const NUMBER: &str = "row";

/// Name of the only column of a raw item.
const RAW: &str = "item";

/// The columns of an item in a report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Columns {
    /// The cells under these columns.
    Named(Vec<String>),
    /// The raw text of a JSON line, or the options of a job without a file.
    Raw,
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

/// Returns the name of a report column, with a number appended if the item has a column of that name.
pub fn free_name(name: &str, taken: &[&str]) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_else(|| name.to_owned())
}
