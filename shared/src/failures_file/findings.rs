//! What a person should know of a corrected file's rows: those that changed nothing, by kind, with the first few.

use longshore_domain::job::JobError;
use longshore_domain::work_file::{End, Entry};

use super::{CorrectedFile, Correction};

/// Numbers that a message names: enough to find the fault, few enough to be read.
const NAMED: usize = 5;

/// How many there were, and the first few.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Listed {
    count: u64,
    first: Vec<u64>,
}

impl Listed {
    pub(super) fn note(&mut self, number: u64) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(number);
        }
    }

    /// An issue, if there was any: `1 row (7) …`, `12 rows (7, 8, …) …`.
    fn issue(&self, code: &str, what: &str) -> Option<JobError> {
        let named: Vec<_> = self.first.iter().map(u64::to_string).collect();
        let (named, more) = (named.join(", "), if self.count > NAMED as u64 { ", …" } else { "" });
        let rows = if self.count == 1 { "row" } else { "rows" };
        (self.count > 0).then(|| JobError::new(code, format!("{} {rows} ({named}{more}) {what}", self.count)))
    }
}

/// A corrected file held against the items that failed.
#[derive(Debug)]
pub struct Findings<'a> {
    file: &'a CorrectedFile,
    /// For each row whether it has met its item.
    observed: Vec<bool>,
    unchanged: Vec<u64>,
    /// Not every item that failed was met, or there were too many.
    left_off: bool,
}

impl<'a> Findings<'a> {
    /// No item was met yet.
    pub fn new(file: &'a CorrectedFile) -> Self {
        Self { file, observed: vec![false; file.rows.len()], unchanged: Vec::new(), left_off: false }
    }

    /// Meets an item, if it failed. In any order.
    pub fn meet(&mut self, entry: &Entry) {
        let Ok(row) = self.file.rows.binary_search_by_key(&entry.n, |row| row.number) else { return };
        if matches!(entry.end, End::Failed(_)) {
            self.observed[row] = true;
            if entry.damaged && self.file.correction(entry) == Correction::Unchanged {
                self.unchanged.push(entry.n);
            }
        }
    }

    /// There are too many to meet the rest.
    pub fn leave_off(&mut self) {
        self.left_off = true;
    }

    /// The issues, once every item that failed was met.
    pub fn issues(mut self) -> Vec<JobError> {
        let (mut unknown, mut unchanged) = (Listed::default(), Listed::default());
        let rows = self.file.rows.iter().zip(&self.observed);
        rows.filter(|(_, observed)| !**observed).for_each(|(row, _)| unknown.note(row.number));
        self.unchanged.sort_unstable();
        self.unchanged.iter().for_each(|number| unchanged.note(*number));
        let issues = [
            match self.left_off {
                false => unknown.issue("corrected_rows_unknown", UNKNOWN),
                true => unknown.issue("corrected_rows_unchecked", UNCHECKED),
            },
            self.file.repeated.issue("corrected_rows_repeated", REPEATED),
            self.file.unreadable.issue("corrected_rows_unreadable", UNREADABLE),
            unchanged.issue("corrected_rows_unchanged", UNCHANGED),
        ];
        issues.into_iter().flatten().collect()
    }
}

const UNKNOWN: &str = "of the corrected file named no failed item of this job and did nothing; \
                       did a number change, or is the file another job's?";
const UNCHECKED: &str = "of the corrected file were not compared with the failed items, of which there are too many: \
                         each of them runs if it names a failed item, and does nothing if it does not";
const REPEATED: &str = "stood in the corrected file more than once, so that none of them was taken: \
                        the items stay failed; leave one row each and retry with the file again";
const UNREADABLE: &str = "of the corrected file, counted with its first line, could not be read \
                          (no number, not UTF-8, torn cells, an unclosed quote, too long): their items stay failed; \
                          save it as CSV UTF-8 and retry with it again";
const UNCHANGED: &str = "of the corrected file stood as the report had shown them, which is not what the source held \
                         (not UTF-8, an unclosed quote, too long): the items stay failed; correct their cells";
