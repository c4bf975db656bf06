//! Records of a test run: rows of tables, and notes about skipped tests.

use std::fmt::Display;
use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::Path;

use crate::{FOLDER, NOTES};

/// Records a row of a table: its columns and their cells, in order. A column named `violations` is summed.
///
/// # Panics
/// If the row cannot be written.
pub fn row(table: &str, cells: &[(&str, &dyn Display)]) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    if let Err(error) = write(Path::new(&folder), table, cells) {
        panic!("a measurement cannot be written to {}: {error}", folder.display());
    }
}

/// Records that the calling test is skipped, as a line with the word `skipped`, a tab, the test's name and the reason.
/// `cargo xtask test` counts these lines, because a test that returns early counts as passed.
///
/// # Panics
/// If the line cannot be written.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped: {test}: {reason}");
    let Some(path) = std::env::var_os(NOTES) else { return };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let line = format!("skipped\t{test}: {reason}\n");
    if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("a note cannot be written to {}: {error}", path.display());
    }
}

/// Writes one line in one write, so that rows of concurrent tests do not mix.
fn write(folder: &Path, table: &str, cells: &[(&str, &dyn Display)]) -> std::io::Result<()> {
    create_dir_all(folder)?;
    let cells: Vec<_> = cells.iter().map(|(column, cell)| [(*column).to_owned(), cell.to_string()]).collect();
    let line = format!("{}\n", serde_json::json!(cells));
    OpenOptions::new().create(true).append(true).open(folder.join(format!("{table}.jsonl")))?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_of_pairs() {
        let folder = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
        write(&folder, "runs", &[("kind", &"crash"), ("violations", &0)]).unwrap();
        write(&folder, "runs", &[("kind", &"a \"quote\""), ("violations", &1)]).unwrap();
        let lines = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            lines,
            "[[\"kind\",\"crash\"],[\"violations\",\"0\"]]\n[[\"kind\",\"a \\\"quote\\\"\"],[\"violations\",\"1\"]]\n"
        );
    }
}
