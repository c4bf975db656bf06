//! Tables with fitted columns.

/// Renders one line per row, below a heading. The last column is not padded. Control characters, which could change
/// the terminal, are shown as a space.
pub(crate) fn render<const N: usize>(heading: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let clean = |row: [String; N]| row.map(|cell| cell.replace(char::is_control, " "));
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(rows.into_iter().map(clean)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..N).map(|column| if column + 1 < N { width(column) } else { 0 }).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell() {
        let rows = [["1", "Größe", "x\u{1b}[2J"], ["22", "b", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(render(["id", "name", "note"], rows), "id  name   note\n1   Größe  x [2J\n22  b\n");
    }
}
