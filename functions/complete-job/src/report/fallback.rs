//! The cases in which the results are CSV, although a workbook was requested: it would have too many cells, the results
//! do not fit into it, or writing it has not ended in several invocations.

use longshore_domain::ports::{Files, MultipartFiles, Store};
use longshore_domain::results::{ResultFormat, ResultsForm};

use super::results::Results;
use super::state::State;
use super::workbook_source::MAX_CELLS;
use super::writer::ReportWriter;

/// Maximum number of invocations that begin to write a workbook.
const MAX_TRIES: u32 = 3;

/// Returns the form of a results file of so many rows, and true if it is CSV in place of a workbook: always if `as_csv`.
pub(super) fn form_of_file(requested: ResultsForm, rows: u64, as_csv: bool) -> (ResultsForm, bool) {
    let cells = rows.saturating_mul(requested.width() as u64);
    let falls_back = requested.format == ResultFormat::Xlsx && (as_csv || cells > MAX_CELLS);
    (if falls_back { requested.as_csv() } else { requested }, falls_back)
}

impl<S: Store, F: Files + MultipartFiles> ReportWriter<'_, S, F> {
    /// Returns true if a stored report has its results as CSV in place of a workbook.
    pub(crate) fn is_as_csv(stored: &[u8]) -> bool {
        State::parse(stored).is_some_and(|(state, _)| state.workbook.as_csv)
    }

    /// Returns true if several invocations have begun the workbook, and none has ended it.
    pub(crate) fn is_out_of_tries(&self) -> bool {
        self.workbook.tries >= MAX_TRIES && self.results.as_ref().is_some_and(Results::is_workbook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workbook_has_up_to_ten_million_cells() {
        let xlsx = ResultsForm { format: ResultFormat::Xlsx, ..ResultsForm::default() };
        for (rows, as_csv, expected) in [
            (5_000_000, false, ResultFormat::Xlsx),
            (5_000_001, false, ResultFormat::Csv),
            (1, true, ResultFormat::Csv),
        ] {
            let (form, falls_back) = form_of_file(xlsx.clone(), rows, as_csv);
            assert_eq!((form.format, falls_back), (expected, expected == ResultFormat::Csv), "{rows} rows");
        }
        assert_eq!(form_of_file(ResultsForm::default(), u64::MAX, true), (ResultsForm::default(), false));
    }
}
