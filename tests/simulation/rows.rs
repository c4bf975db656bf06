//! Rows that name their own outcome, and the files of such rows.

use longshore_domain::records::{Delimiter, GivenReading, Reading};

/// Actions that a row can name. The last one stops the job.
pub(crate) const ACTIONS: [&str; 6] = ["ok", "skip", "reject", "retry", "never", "fatal"];
pub(crate) const OK: usize = 0;
pub(crate) const SKIP: usize = 1;
pub(crate) const RETRY: usize = 3;
pub(crate) const NEVER: usize = 4;
pub(crate) const FATAL: usize = 5;

/// The bit of an action in a set of actions.
pub(crate) fn bit(action: usize) -> u8 {
    1 << action
}

/// For each row, the set that contains only its own action.
pub(crate) fn only(rows: &[usize]) -> Vec<u8> {
    rows.iter().map(|action| bit(*action)).collect()
}

/// Syntax of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Dialect {
    /// JSON Lines if true, CSV otherwise.
    pub(crate) json_lines: bool,
    pub(crate) bom: bool,
    pub(crate) crlf: bool,
    pub(crate) quoted: bool,
    /// The last line has no line end.
    pub(crate) open_end: bool,
    /// Bytes of a third column. A chunk with much padding does not fit into its message.
    pub(crate) padding: usize,
}

impl Dialect {
    /// True for a CSV file in another encoding, with another delimiter, and with rows that are no items.
    pub(crate) fn is_foreign(self) -> bool {
        self.quoted && !self.bom && !self.json_lines
    }
}

/// A file with these rows.
pub(crate) fn file_of(rows: &[usize], dialect: Dialect) -> String {
    if dialect.json_lines {
        return lines_of(rows, dialect);
    }
    let (quote, end) = (if dialect.quoted { "\"" } else { "" }, if dialect.crlf { "\r\n" } else { "\n" });
    let padding = if dialect.padding > 0 { format!(",{}", "x".repeat(dialect.padding)) } else { String::new() };
    let mut file = if dialect.bom { "\u{feff}" } else { "" }.to_owned();
    file += if padding.is_empty() { "id,action" } else { "id,action,more" };
    for (action, n) in rows.iter().zip(1..) {
        file += &format!("{end}{n},{quote}{}{quote}{padding}", ACTIONS[*action]);
    }
    if dialect.open_end && !rows.is_empty() { file } else { file + end }
}

/// The bytes of an uploaded file with these rows.
pub(crate) fn upload_of(rows: &[usize], dialect: Dialect) -> Vec<u8> {
    let text = file_of(rows, dialect);
    if !dialect.is_foreign() {
        return text.into_bytes();
    }
    let end: &[u8] = if dialect.crlf { b"\r\n" } else { b"\n" };
    [b"Liste f\xfcr alle", end, b";;", end, text.replace(',', ";").as_bytes()].concat()
}

/// What the client gives of the reading of an upload. The encoding is found.
pub(crate) fn reading_of(dialect: Dialect) -> GivenReading {
    if !dialect.is_foreign() {
        return Reading::default().into();
    }
    GivenReading { delimiter: Some(Delimiter::Semicolon), header_row: Some(2), ..GivenReading::default() }
}

/// A JSON Lines file with these rows.
fn lines_of(rows: &[usize], dialect: Dialect) -> String {
    let end = if dialect.crlf { "\r\n" } else { "\n" };
    let lines: Vec<_> = rows.iter().zip(1..).map(|(action, n)| line(n, ACTIONS[*action], dialect)).collect();
    let file = if dialect.bom { "\u{feff}" } else { "" }.to_owned() + &lines.join(end);
    if dialect.open_end || rows.is_empty() { file } else { file + end }
}

/// A row as a JSON line.
pub(crate) fn line(number: usize, action: &str, dialect: Dialect) -> String {
    let space = if dialect.quoted { " " } else { "" };
    let padding =
        if dialect.padding > 0 { format!(",\"more\":\"{}\"", "x".repeat(dialect.padding)) } else { String::new() };
    format!("{{\"id\":{number},{space}\"action\":\"{action}\"{padding}}}")
}
