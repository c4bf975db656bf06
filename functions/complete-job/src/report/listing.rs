//! The items that a report lists: those that failed, were skipped, or have not ended.

use longshore::chunk::{ChunkRows, IncludedRows};
use longshore_domain::ports::{Files, MultipartFiles, Store};
use longshore_domain::work_file::{End, Entry};

use super::writer::ReportWriter;

/// Positions of the tables of a report.
pub(super) const FAILED: usize = 0;
pub(super) const SKIPPED: usize = 1;
pub(super) const UNPROCESSED: usize = 2;

impl<S: Store, F: Files + MultipartFiles> ReportWriter<'_, S, F> {
    /// Lists the items of a chunk that have not succeeded.
    pub(super) fn push(&mut self, included: IncludedRows, rows: &ChunkRows) {
        match included {
            IncludedRows::Remaining(_) => {
                let failed = rows.ended.iter().filter(|entry| matches!(entry.end, End::Failed(_)));
                let failed = failed.map(|entry| (entry.n, entry.raw.as_bytes()));
                let mut left: Vec<_> = failed.chain(rows.open()).collect();
                left.sort_unstable_by_key(|(number, _)| *number);
                left.into_iter().for_each(|(number, raw)| self.tables[UNPROCESSED].push(number, raw, &[]));
            }
            IncludedRows::CarriedOver => rows.ended.iter().for_each(|entry| self.push_skipped(entry)),
            IncludedRows::Ended | IncludedRows::All => {
                for entry in &rows.ended {
                    self.push_failed(entry);
                    self.push_skipped(entry);
                }
                rows.open().for_each(|(number, raw)| self.tables[UNPROCESSED].push(number, raw, &[]));
            }
        }
    }

    fn push_failed(&mut self, entry: &Entry) {
        if let End::Failed(why) = &entry.end {
            self.failures_by_code.count(&why.code);
            let report_cells = [why.code.as_str(), why.field.as_deref().unwrap_or_default(), &why.message];
            self.tables[FAILED].push(entry.n, entry.raw.as_bytes(), &report_cells);
        }
    }

    fn push_skipped(&mut self, entry: &Entry) {
        if let End::Skipped { reason } = &entry.end {
            self.tables[SKIPPED].push(entry.n, entry.raw.as_bytes(), &[reason]);
        }
    }
}
