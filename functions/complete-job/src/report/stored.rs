//! A report that one invocation stores, and the next one continues.

use longshore_domain::ports::{Files, MultipartFiles, Store};

use super::listing::{FAILED, SKIPPED, UNPROCESSED};
use super::state::{State, WorkbookState};
use super::table::Table;
use super::writer::ReportWriter;
use crate::CompleteError;

impl<S: Store, F: Files + MultipartFiles> ReportWriter<'_, S, F> {
    /// Continues a stored report; `None` if another version of the code has stored it.
    pub(crate) fn restore(mut self, stored: &[u8]) -> Option<Self> {
        let (state, tails) = State::parse(stored)?;
        let files = state.files.get(..3)?;
        let [failed, skipped, unprocessed] = self.tables;
        self.tables = [
            failed.restore(&files[FAILED], tails[FAILED])?,
            skipped.restore(&files[SKIPPED], tails[SKIPPED])?,
            unprocessed.restore(&files[UNPROCESSED], tails[UNPROCESSED])?,
        ];
        let results = self.results.filter(|_| state.files.len() > 3);
        self.results = match results {
            Some(results) => Some(results.restore(&state.files[3..], tails.get(3..6)?, state.seen)?),
            None => None,
        };
        (self.at, self.source_gone, self.issues) = (state.at, state.source_gone, state.issues);
        (self.failures_by_code, self.workbook) = (state.failures_by_code, state.workbook);
        Some(self)
    }

    /// Returns the bytes from which [`ReportWriter::restore`] continues.
    ///
    /// # Errors
    /// None in practice: every part can be serialized as JSON.
    pub(crate) fn stored(&self) -> Result<Vec<u8>, CompleteError> {
        let mut saved: Vec<_> = self.tables.iter().map(Table::save).collect();
        let mut uncompressed = None;
        if let Some(results) = &self.results {
            let (files, text) = results.save();
            saved.extend(files);
            uncompressed = Some(text);
        }
        let mut state = State::new(self.at);
        state.seen = self.results.as_ref().map(|results| results.seen().clone()).unwrap_or_default();
        (state.source_gone, state.issues) = (self.source_gone, self.issues.clone());
        state.failures_by_code.clone_from(&self.failures_by_code);
        // The invocation that stores the end of the rows then writes the workbook.
        state.workbook = WorkbookState { tries: self.workbook.tries + u32::from(self.at.ended), ..self.workbook };
        state.more = uncompressed.iter().map(|text| text.len()).collect();
        let (files, mut tails): (Vec<_>, Vec<_>) = saved.into_iter().unzip();
        state.files = files;
        tails.extend(uncompressed);
        Ok(state.to_bytes(&tails)?)
    }
}
