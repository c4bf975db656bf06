//! The benchmark's cases, smallest first, because a process keeps the memory of its largest job.

use longshore_cli::api::Mode;

/// A kind of job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) mode: Mode,
    pub(crate) rows: u64,
    /// One of this many rows fails; 0 for none.
    pub(crate) bad_every: u64,
    pub(crate) runs: usize,
}

/// Rows of the file that only memory is measured with: 1 GB.
pub(crate) const MEMORY_ROWS: u64 = 10_000_000;

const fn case(mode: Mode, rows: u64, bad_every: u64, runs: usize) -> Case {
    Case { mode, rows, bad_every, runs }
}

const QUICK: [Case; 5] = [
    case(Mode::Validate, 10_000, 0, 5),
    case(Mode::Validate, 100_000, 0, 5),
    case(Mode::Validate, 100_000, 100, 3),
    case(Mode::Upsert, 10_000, 0, 3),
    case(Mode::Upsert, 100_000, 0, 1),
];

const LONG: [Case; 2] = [case(Mode::Validate, 1_000_000, 0, 5), case(Mode::Validate, MEMORY_ROWS, 0, 1)];

/// All cases, or only those that take about a minute.
pub(crate) fn all(quick: bool) -> Vec<Case> {
    if quick { QUICK.to_vec() } else { QUICK.into_iter().chain(LONG).collect() }
}

impl Case {
    /// A readable name.
    pub(crate) fn name(&self) -> String {
        let mode = match self.mode {
            Mode::Validate => "validate",
            Mode::Upsert => "upsert",
            Mode::Insert => "insert",
        };
        let rows = match self.rows {
            MEMORY_ROWS => "1 GB".to_owned(),
            rows if rows % 1_000_000 == 0 => format!("{} M", rows / 1_000_000),
            rows => format!("{} k", rows / 1_000),
        };
        let bad = if self.bad_every > 0 { format!(", 1 row in {} fails", self.bad_every) } else { String::new() };
        format!("{mode} {rows}{bad}")
    }

    /// Returns true for the case with this mode and number of rows, and no bad rows.
    pub(crate) fn is(&self, mode: Mode, rows: u64) -> bool {
        self.mode == mode && self.rows == rows && self.bad_every == 0
    }
}
