//! Markdown tables that are also readable in a terminal.

use std::fmt::Write;

/// Writes a Markdown table with aligned columns.
pub fn table(text: &mut String, title: &str, headings: &[&str], rows: Vec<Vec<String>>) {
    if !title.is_empty() {
        let _ = writeln!(text, "## {title}\n");
    }
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut line = |cells: &mut dyn Iterator<Item = (String, usize)>| {
        let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(&mut headings.iter().map(|heading| (*heading).to_owned()).zip(widths.iter().copied()));
    line(&mut widths.iter().map(|width| ("-".repeat(*width), *width)));
    for row in rows {
        line(&mut row.into_iter().zip(widths.iter().copied()));
    }
    text.push('\n');
}
