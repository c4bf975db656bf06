//! A count of rows with the first few numbers, for people.

use longshore_domain::job::JobError;

/// Maximum number of row numbers in a message: enough to find the error, few enough to read.
const MAX_LISTED: usize = 5;

/// A count of rows, and the first few of them.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct RowList {
    count: u64,
    first: Vec<u64>,
}

impl RowList {
    pub(super) fn add(&mut self, number: u64) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(number);
        }
    }

    /// Returns an issue if there was any row: `1 row (7) …`, `12 rows (7, 8, …) …`.
    pub(super) fn issue(&self, code: &str, what: &str) -> Option<JobError> {
        let numbers: Vec<_> = self.first.iter().map(u64::to_string).collect();
        let (numbers, more) = (numbers.join(", "), if self.count > MAX_LISTED as u64 { ", …" } else { "" });
        let rows = if self.count == 1 { "row" } else { "rows" };
        (self.count > 0).then(|| JobError::new(code, format!("{} {rows} ({numbers}{more}) {what}", self.count)))
    }
}
