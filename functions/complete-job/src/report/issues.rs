//! Issues that a report adds to those of its job.

use std::collections::BTreeSet;

use longshore_domain::job::JobError;
use longshore_domain::text::listed;

pub(super) fn source_gone() -> JobError {
    let message = "the file has changed or no longer exists; unprocessed rows are listed by row number only";
    JobError::new("source_gone", message)
}

pub(super) fn results_incomplete() -> JobError {
    let message = "there is no results file, because a worker of an earlier deployment has written no outputs; create \
                   the job again";
    JobError::new("results_incomplete", message)
}

pub(super) fn results_too_large() -> JobError {
    let message = "there is no results file, because it would be larger than an upload in parts can be; create jobs \
                   over parts of the items, or name fewer columns in results.columns";
    JobError::new("results_too_large", message)
}

pub(super) fn results_as_csv() -> JobError {
    let message = "the results do not fit into a workbook, so they are the file results.csv";
    JobError::new("results_as_csv", message)
}

pub(super) fn columns_left_out(members: &BTreeSet<String>) -> JobError {
    let message = format!(
        "records have properties that the records did not have from which the columns were taken, so the file has no \
         column for them: {}; name the columns in results.columns",
        listed(members.iter().map(String::as_str))
    );
    JobError::new("columns_left_out", message)
}

pub(super) fn columns_not_found(names: &[&str]) -> JobError {
    let message = format!(
        "no item has these properties of results.columns: {}; check their names",
        listed(names.iter().copied())
    );
    JobError::new("columns_not_found", message)
}

/// The rows of a file that was not prepared are not known.
pub(super) fn file_not_prepared() -> JobError {
    let message = "the job was stopped before its file was converted, so its rows are not listed; retry the job to import \
                   them";
    JobError::new("file_not_prepared", message)
}

pub(super) fn unsplit_unreadable() -> JobError {
    let message = "the file has changed or no longer exists; rows that the job did not reach are not listed";
    JobError::new("rest_not_listed", message)
}
