//! The columns of a report's files: the item's number, its own cells, and what is said of it.
//!
//! Said once, for completion writes them and a corrected file is read by them.

use longshore_domain::records::Format;

/// What is said of an item that failed.
pub const REPORT_COLUMNS: [&str; 3] = ["code", "field", "message"];

/// Name of the column of numbers.
const NUMBER: &str = "row";

/// Name of the one column that holds a raw item.
const RAW: &str = "item";

/// What the rows of a report repeat of their items.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Columns {
    /// The cells under these columns.
    Named(Vec<String>),
    /// The raw text of a JSON line, or the options of a job without a file.
    Raw,
}

impl Columns {
    /// The columns of items of a format; `names` are those of CSV. None if they are not known.
    pub fn from_names(format: Format, names: Option<Vec<String>>) -> Option<Self> {
        match format {
            Format::Csv => names.map(Self::Named),
            Format::JsonLines => Some(Self::Raw),
        }
    }

    /// Names of the item's own columns.
    pub fn own(&self) -> Vec<&str> {
        match self {
            Self::Named(names) => names.iter().map(String::as_str).collect(),
            Self::Raw => vec![RAW],
        }
    }

    /// Name of the column of numbers.
    pub fn number(&self) -> String {
        free_name(NUMBER, &self.own())
    }

    /// Calls `push` with each cell of an item as a report shows it, but for the apostrophes; `cells` are those of its record.
    /// There are as many as columns: missing ones are empty, and surplus ones go into the last, joined by commas.
    pub fn rectangular<'a>(columns: usize, mut cells: impl Iterator<Item = &'a [u8]>, push: &mut impl FnMut(&[u8])) {
        for _ in 1..columns {
            push(cells.next().unwrap_or_default());
        }
        match (cells.next(), cells.next()) {
            (last, None) => push(last.unwrap_or_default()),
            (last, Some(surplus)) => {
                let mut rest = vec![last.unwrap_or_default(), surplus];
                rest.extend(cells);
                push(&rest.join(&b','));
            }
        }
    }
}

/// A name of ours; with a number if the item has a column of that name.
pub fn free_name(name: &str, taken: &[&str]) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_else(|| name.to_owned())
}
