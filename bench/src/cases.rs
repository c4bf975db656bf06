//! The benchmark's cases, smallest first, because a process keeps the memory of its largest job.

use longshore_cli::api::Mode;

/// A kind of job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) mode: Mode,
    pub(crate) rows: u64,
    /// Every `bad_every`th row fails; 0 for none.
    pub(crate) bad_every: u64,
    pub(crate) runs: usize,
}

/// Number of rows of the 1 GB file, with which only memory is measured.
pub(crate) const MEMORY_ROWS: u64 = 10_000_000;

const fn case(mode: Mode, rows: u64, bad_every: u64, runs: usize) -> Case {
    Case { mode, rows, bad_every, runs }
}

/// The cases that take about a minute.
pub(crate) const QUICK: [Case; 5] = [
    case(Mode::Validate, 10_000, 0, 5),
    case(Mode::Validate, 100_000, 0, 5),
    case(Mode::Validate, 100_000, 100, 3),
    case(Mode::Upsert, 10_000, 0, 3),
    case(Mode::Upsert, 100_000, 0, 1),
];

const LONG: [Case; 2] = [case(Mode::Validate, 1_000_000, 0, 5), case(Mode::Validate, MEMORY_ROWS, 0, 1)];

/// Returns all cases.
pub(crate) fn all() -> Vec<Case> {
    QUICK.into_iter().chain(LONG).collect()
}

impl Case {
    /// Returns a readable name.
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

    /// Returns true if the case has this mode and number of rows, and no bad rows.
    pub(crate) fn is(&self, mode: Mode, rows: u64) -> bool {
        self.mode == mode && self.rows == rows && self.bad_every == 0
    }
}
