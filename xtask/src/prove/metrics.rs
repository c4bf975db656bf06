//! The measurements that tests write: one file per table, one line per row.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The column whose sum must be zero.
const VIOLATIONS: &str = "violations";

/// A table: its columns in order of first use, and its rows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    fn add(&mut self, cells: Vec<[String; 2]>) {
        let mut row = vec![String::new(); self.columns.len()];
        for [column, cell] in cells {
            let index = self.columns.iter().position(|known| *known == column).unwrap_or_else(|| {
                self.columns.push(column);
                row.push(String::new());
                self.columns.len() - 1
            });
            row[index] = cell;
        }
        self.rows.push(row);
    }

    fn violations(&self) -> u64 {
        let column = self.columns.iter().position(|column| column == VIOLATIONS);
        // A value that is not a number counts as a violation.
        let cells = self.rows.iter().filter_map(|row| row.get(column?));
        cells.filter(|cell| !cell.is_empty()).map(|cell| cell.parse().unwrap_or(1)).sum()
    }
}

/// Reads all tables of a folder, by name. Sorts their rows, because tests run in parallel.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, Table>> {
    let mut tables = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path)?;
            tables.insert(name, parse(&text).with_context(|| format!("{} is damaged", path.display()))?);
        }
    }
    Ok(tables)
}

fn parse(text: &str) -> Result<Table> {
    let mut table = Table::default();
    for line in text.lines() {
        table.add(serde_json::from_str(line)?);
    }
    let width = table.columns.len();
    table.rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    table.rows.sort();
    Ok(table)
}

/// Sums the violations of all tables.
pub(super) fn violations(tables: &BTreeMap<String, Table>) -> u64 {
    tables.values().map(Table::violations).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_have_all_columns() -> Result<()> {
        let table = parse("[[\"kind\",\"b\"]]\n[[\"kind\",\"a\"],[\"violations\",\"2\"]]\n")?;
        assert_eq!(table.columns, ["kind", "violations"]);
        assert_eq!(table.rows, [["a", "2"], ["b", ""]]);
        assert_eq!(table.violations(), 2);
        Ok(())
    }

    #[test]
    fn a_count_that_is_not_a_number_is_a_violation() -> Result<()> {
        assert_eq!(parse("[[\"violations\",\"none\"]]\n")?.violations(), 1);
        Ok(())
    }
}
