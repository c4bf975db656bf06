//! The comparison of a report's rows with the counts of the ledger, group by group.

use longshore::chunk::{IncludedRows, ReportGroup};
use longshore_domain::job::JobError;
use longshore_domain::ports::{Files, MultipartFiles, Store};

use super::issues::results_incomplete;
use super::results::Results;
use super::table::Table;
use super::writer::ReportWriter;
use crate::CompleteError;

impl<S: Store, F: Files + MultipartFiles> ReportWriter<'_, S, F> {
    /// Stops writing results if a group has too few: a worker of a version whose handler had no output has worked it.
    pub(super) async fn check_results(&mut self, report_group: &ReportGroup<'_>) {
        let Some(results) = &self.results else { return };
        let found = results.len() - self.at.before[3];
        if !matches!(report_group.rows, IncludedRows::Remaining(_)) && found < report_group.group.counts.succeeded {
            self.drop_results(results_incomplete()).await;
        }
    }

    /// Stops writing results. The job ends without them, and with an issue.
    pub(super) async fn drop_results(&mut self, issue: JobError) {
        if let Some(mut results) = self.results.take() {
            results.abort().await;
            self.issues.push(issue);
        }
    }

    /// Checks that the rows of a group match its counts.
    pub(super) fn check(&self, report_group: &ReportGroup<'_>) -> Result<(), CompleteError> {
        let (group, rows) = (report_group.group, self.rows());
        let open = group.items.saturating_sub(group.counts.done());
        let results = self.results.is_some().then_some(group.counts.succeeded);
        let counted = match report_group.rows {
            IncludedRows::Remaining(_) => return Ok(()),
            IncludedRows::CarriedOver => [None, Some(group.counts.skipped), None, results],
            IncludedRows::Ended | IncludedRows::All => {
                [Some(group.counts.failed), Some(group.counts.skipped), Some(open), results]
            }
        };
        for (i, outcome) in ["failed", "skipped", "unprocessed", "succeeded"].into_iter().enumerate() {
            let Some(counted) = counted[i] else { continue };
            let found = rows[i] - self.at.before[i];
            if counted != found {
                return Err(CompleteError::Miscounted { group: group.number, outcome, counted, found });
            }
        }
        Ok(())
    }

    /// Returns the rows so far: failed, skipped, unprocessed, and those of the results.
    pub(super) fn rows(&self) -> [u64; 4] {
        let [failed, skipped, unprocessed] = self.tables.each_ref().map(Table::len);
        [failed, skipped, unprocessed, self.results.as_ref().map_or(0, Results::len)]
    }
}
