//! Findings about a corrected file: a guessed encoding, and the rows that had no effect, counted by reason, with the first
//! few numbers.

use longshore_domain::job::JobError;
use longshore_domain::records::TextEncoding;
use longshore_domain::work_file::{End, Entry};

use super::corrected::{CorrectedFile, Correction, RowList};

/// Comparison of a corrected file with the failed items.
#[derive(Debug)]
pub struct Findings<'a> {
    file: &'a CorrectedFile,
    /// For each row, true once its failed item was compared.
    compared: Vec<bool>,
    unchanged: Vec<u64>,
    /// True if not every failed item was compared.
    incomplete: bool,
}

impl<'a> Findings<'a> {
    /// Creates a comparison without any item.
    pub fn new(file: &'a CorrectedFile) -> Self {
        Self { file, compared: vec![false; file.rows.len()], unchanged: Vec::new(), incomplete: false }
    }

    /// Compares an item with the file, if the item failed. In any order.
    pub fn compare(&mut self, entry: &Entry) {
        let Ok(row) = self.file.rows.binary_search_by_key(&entry.n, |row| row.number) else { return };
        if matches!(entry.end, End::Failed(_)) {
            self.compared[row] = true;
            if entry.damaged && self.file.correction(entry) == Correction::Unchanged {
                self.unchanged.push(entry.n);
            }
        }
    }

    /// Records that not all failed items can be compared, because there are too many.
    pub fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Returns the issues. Call it after every failed item was compared.
    pub fn issues(mut self) -> Vec<JobError> {
        let (mut unknown, mut unchanged) = (RowList::default(), RowList::default());
        let rows = self.file.rows.iter().zip(&self.compared);
        rows.filter(|(_, compared)| !**compared).for_each(|(row, _)| unknown.add(row.number));
        self.unchanged.sort_unstable();
        self.unchanged.iter().for_each(|number| unchanged.add(*number));
        let issues = [
            match self.incomplete {
                false => unknown.issue("corrected_rows_unknown", UNKNOWN),
                true => unknown.issue("corrected_rows_unchecked", UNCHECKED),
            },
            self.file.repeated.issue("corrected_rows_repeated", REPEATED),
            self.file.unreadable.issue("corrected_rows_unreadable", UNREADABLE),
            unchanged.issue("corrected_rows_unchanged", UNCHANGED),
            self.file.guessed_encoding().map(guessed_encoding),
            self.file.has_no_rows().then(no_rows),
        ];
        issues.into_iter().flatten().collect()
    }
}

fn no_rows() -> JobError {
    JobError::new(
        "corrected_file_without_rows",
        "the corrected file has no rows below its first line, so nothing was retried",
    )
}

fn guessed_encoding(encoding: TextEncoding) -> JobError {
    let message = format!(
        "the corrected file is not UTF-8, and was read as {encoding}, which is a guess: if characters of its rows are \
         wrong, save it as CSV UTF-8 or as a workbook; rows that have succeeded with wrong characters must be imported \
         again"
    );
    JobError::new("corrected_encoding_guessed", message)
}

const UNKNOWN: &str = "of the corrected file matched no failed item of this job and had no effect; did a number \
                       change, or does the file belong to another job?";
const UNCHECKED: &str = "of the corrected file were not compared with the failed items, because there are too many: \
                         each row runs if it matches a failed item, and has no effect otherwise";
const REPEATED: &str = "occurred in the corrected file more than once, so none of them was used: the items stay \
                        failed; keep one row each and retry with the file again";
const UNREADABLE: &str = "of the corrected file (the first line is row 1) could not be read (no number, not \
                          UTF-8, split cells, an unclosed quote, too long): their items stay failed; save the file as CSV \
                          UTF-8 and retry with it again";
const UNCHANGED: &str = "of the corrected file were unchanged from the report, which differs from the source (not \
                         UTF-8, an unclosed quote, too long): the items stay failed; correct their cells";
