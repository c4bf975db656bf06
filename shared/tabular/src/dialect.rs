//! Detection of the delimiter and the quote character of CSV.
//!
//! Each delimiter gives a reading of the first rows. The table begins with the first row that has the usual number of
//! cells of the lower half. A reading has a cost, the sum of: the share of rows of the table whose number of cells is
//! not the usual one; the share of cells below its first row that contain another delimiter and are no number; the
//! share of rows above the table, at least one half if there are any; and one half if then its first row does not look
//! like a header. The cheapest reading wins. If two cost nearly the same, the dialect is ambiguous. A reading that
//! costs too much is none, unless it divides every row.
//!
//! Programs can name the delimiter in the first line: `sep=;`.

use longshore_domain::records::{Delimiter, Dialect, Extent, Quote, TextEncoding};

use crate::cells::CellReader;
use crate::rows::{Rows, complete_records, most_common};

/// The difference of the costs of two readings below which a dialect is ambiguous.
const MARGIN: f64 = 0.1;

/// The cost from which on a file has a single column.
const MAX_COST: f64 = 1.0;

/// The dialect of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum DetectedDialect {
    /// The rows fit this dialect.
    Found(Dialect),
    /// No delimiter divides the rows. This dialect reads them as one column, unless every delimiter occurs.
    SingleColumn(Dialect),
    /// The first line names the delimiter. The table begins after it.
    Named {
        /// The dialect.
        dialect: Dialect,
        /// Offset of the byte after the line.
        table_from: usize,
    },
    /// The first line names a delimiter that is not supported.
    Unsupported {
        /// The delimiter.
        delimiter: char,
        /// Offset of the byte after the line.
        table_from: usize,
    },
    /// Two dialects fit equally well, the better one first.
    Ambiguous([Dialect; 2]),
}

/// Detects the dialect of a text from its first bytes, after the byte order mark.
pub fn detect_dialect(head: &[u8], extent: Extent, encoding: TextEncoding) -> DetectedDialect {
    if let Some((separator, table_from)) = named_delimiter(head) {
        let Some(delimiter) = Delimiter::from_byte(separator) else {
            return DetectedDialect::Unsupported { delimiter: char::from(separator), table_from };
        };
        let quote = detect_quote(&head[table_from..], extent, delimiter);
        return DetectedDialect::Named { dialect: Dialect { delimiter, quote }, table_from };
    }
    let mut readings: Vec<_> = Delimiter::ALL
        .into_iter()
        .filter(|delimiter| encoding.permits(*delimiter))
        .filter_map(|delimiter| Reading::new(head, extent, delimiter))
        .filter(|reading| reading.cost < MAX_COST || reading.divides_all)
        .collect();
    // A stable sort: of equal costs, the more common delimiter is first.
    readings.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    match &readings[..] {
        [] => DetectedDialect::SingleColumn(single_column(head, encoding)),
        [best, second, ..] if second.cost - best.cost < MARGIN => {
            DetectedDialect::Ambiguous([best.dialect, second.dialect])
        }
        [best, ..] => DetectedDialect::Found(best.dialect),
    }
}

/// Returns the delimiter that a line `sep=;` names, and the offset of the byte after the line.
fn named_delimiter(head: &[u8]) -> Option<(u8, usize)> {
    let line_end = memchr::memchr2(b'\r', b'\n', head).unwrap_or(head.len());
    let line = &head[..line_end];
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let [name @ .., separator] = line else { return None };
    let after_break = if head[line_end..].starts_with(b"\r\n") { line_end + 2 } else { line_end + 1 };
    (name.eq_ignore_ascii_case(b"sep=") && separator.is_ascii()).then(|| (*separator, after_break.min(head.len())))
}

/// A reading of a file with one delimiter, with which most rows have several cells.
struct Reading {
    dialect: Dialect,
    cost: f64,
    /// True if every row has several cells.
    divides_all: bool,
}

impl Reading {
    fn new(head: &[u8], extent: Extent, delimiter: Delimiter) -> Option<Self> {
        let dialect = Dialect { delimiter, quote: detect_quote(head, extent, delimiter) };
        let rows = Rows::read(head, extent, dialect);
        let width = most_common(rows.lower_half().iter().map(|row| row.width).collect()).filter(|width| *width > 1)?;
        let first = rows.shapes.iter().position(|row| row.width == width)?;
        let divides_all = rows.shapes.iter().all(|row| row.width > 1);
        if first > 0 && first + 1 == rows.shapes.len() && !divides_all {
            return None; // One row below others is no table.
        }
        let lacks_header = first > 0 && rows.looks_like_data(first);
        let (table, below) = (&rows.shapes[first..], &rows.shapes[first + 1..]);
        let ragged = table.iter().filter(|row| row.width != width).count();
        let foreign = below.iter().map(|row| row.foreign).sum();
        let above = if first > 0 { share(first, rows.shapes.len()).max(0.5) } else { 0.0 };
        let uneven = share(ragged, table.len()) + share(foreign, below.iter().map(|row| row.width).sum());
        Some(Self { dialect, cost: uneven + above + if lacks_header { 0.5 } else { 0.0 }, divides_all })
    }
}

/// Detects the quote character of a table with this delimiter. Apostrophes quote if they surround all filled cells of a
/// column, in at least two rows. Rows with another number of cells than the first are ignored, because a quoted
/// delimiter or line break divides them.
pub fn detect_quote(head: &[u8], extent: Extent, delimiter: Delimiter) -> Quote {
    let unquoted = Dialect { delimiter, quote: Quote::None };
    let mut reader = CellReader::new(unquoted);
    // For each column, the number of cells in apostrophes; `None` after another filled cell.
    let mut columns = Vec::<Option<usize>>::new();
    for span in complete_records(head, extent, unquoted) {
        let cells = reader.read(&head[span]);
        if columns.is_empty() {
            columns.resize(cells.len(), Some(0));
        } else if columns.len() != cells.len() {
            continue;
        }
        for (column, cell) in columns.iter_mut().zip(cells.iter()).filter(|(_, cell)| !cell.is_empty()) {
            let is_quoted = cell.len() > 1 && cell.starts_with(b"'") && cell.ends_with(b"'");
            *column = column.filter(|_| is_quoted).map(|count| count + 1);
        }
    }
    let is_quoted = columns.iter().flatten().any(|count| *count > 1);
    if is_quoted { Quote::Single } else { Quote::Double }
}

/// Returns a dialect that reads the file as one column, if some delimiter does not occur; else the default.
fn single_column(head: &[u8], encoding: TextEncoding) -> Dialect {
    let is_unused = |delimiter: &Delimiter| memchr::memchr(delimiter.byte(), head).is_none();
    let mut delimiters = Delimiter::ALL.into_iter().filter(|delimiter| encoding.permits(*delimiter));
    Dialect { delimiter: delimiters.find(is_unused).unwrap_or_default(), ..Dialect::default() }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
