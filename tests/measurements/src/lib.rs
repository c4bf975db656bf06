//! Measurements that tests record for the tables of `cargo xtask prove`.
//!
//! A test records a measurement by [`row`]. Plain test runs drop it; `cargo xtask prove` names a folder in [`FOLDER`],
//! and makes tables from its contents: one per file, one line per row.

use std::fmt::Display;
use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::Path;

/// The environment variable with the folder for measurements.
pub const FOLDER: &str = "LONGSHORE_FIGURES";

/// The environment variable with the file that gets a line for each test that was skipped or repeated; see [`skipped`].
pub const NOTES: &str = "LONGSHORE_TEST_NOTES";

/// The environment variable with a binary that replaces the tests' own functions that run job types.
pub const PROBE: &str = "LONGSHORE_PROBE";

/// The environment variable with the condition or the layer to remove (`cargo xtask prove --without`).
pub const WITHOUT: &str = "LONGSHORE_WITHOUT";

/// The conditions that the proofs remove, one at a time, to show that each is needed: name and description. Without any
/// one of them, a count or a report is wrong in some run, or a job hangs.
pub const CONDITIONS: [(&str, &str); 19] = [
    ("cursor-condition", "a commit holds only if the chunk's cursor is the one that the worker read"),
    ("unique-cursors", "every value of a cursor names the attempt that wrote it"),
    ("open-group", "a commit holds only in a group that is open"),
    ("attempt-in-names", "work files are named by the attempt that wrote them"),
    (
        "attempt-in-reports",
        "a report is named by its completion attempt, and the final status names the one that counts",
    ),
    ("closed-before-status", "the groups are closed before the final status is written"),
    ("final-count-first", "the final count is recorded with or before the last send"),
    ("split-cursor", "a group is committed only at the split cursor that the splitter read"),
    (
        "place-of-the-split",
        "a group is committed only where the split has come to, and its splitter goes on only from what it wrote itself",
    ),
    ("final-status", "a final status is written once"),
    ("generation", "the ledger refuses what a generation that has passed writes"),
    ("begin-once", "a job is begun only while it waits"),
    ("no-group-after-stop", "no group is committed to a job that is to stop"),
    ("end-of-split-only-while-splitting", "the end of the split is recorded only of a job that is being split"),
    ("stop-only-while-alive", "only a job that lives is told to stop"),
    ("no-completion-of-a-stopping-job", "a job that is to stop is not completed"),
    ("reopen-only-what-has-ended", "only a job that has ended, and this very generation of it, is opened again"),
    ("no-roll-up-after-the-end", "a group is noted as done only while its job has not ended"),
    ("permits-acquired-when-free", "a permit is acquired only if it has no holder"),
];

/// Layers: redundant mechanisms that only save work or time. Without one of them, nothing is wrong.
pub const LAYERS: [(&str, &str); 8] = [
    ("deduplication", "queues drop a message that was sent twice"),
    ("sweeper", "what stands still is pushed; without it jobs whose messages were lost wait, and nothing else"),
    ("pushes-counted-once", "of two sweeps at once one counts a push"),
    ("groups-at-the-end-of-the-split", "the end of the split names the number of groups"),
    ("permits-released-by-their-holder", "only the holder of a permit releases it"),
    ("checkpoint-as-it-was-read", "of two completions that go on from one checkpoint one moves it"),
    ("called-by-one", "of two that call a chunk in one sends its message"),
    ("forgotten-as-it-was-read", "a chunk that was put down again is not forgotten"),
];

/// Returns true if the full set of tests is to run (`cargo xtask prove`), not the reduced set of a plain test run.
#[must_use]
pub fn is_whole() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// Returns the condition or the layer that is removed in this run, if there is one.
#[must_use]
pub fn without() -> Option<String> {
    std::env::var(WITHOUT).ok().filter(|name| !name.is_empty())
}

/// Records a row of a table: its columns and their cells, in order. A column named `violations` is summed.
///
/// # Panics
/// If the row cannot be written.
pub fn row(table: &str, cells: &[(&str, &dyn Display)]) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    if let Err(error) = write(Path::new(&folder), table, cells) {
        panic!("a figure cannot be written below {}: {error}", folder.display());
    }
}

/// Records that the calling test is skipped, as a line of `skipped`, a tab, the test's name and the reason. `cargo
/// xtask test` counts these lines, because a test that returns early looks like one that has passed.
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

/// Writes one line in one write: rows of concurrent tests do not mix.
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
