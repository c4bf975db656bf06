//! Reasons for which a page of failed items cannot be read.

use longshore::http::{Failure, paging};
use longshore::problem::{FieldError, Problem};
use longshore_domain::ports::PortError;

use crate::output::stored::no_report;

/// The file is not in the format that completion writes.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("failed.csv is damaged")]
pub(super) struct Damaged;

/// Reasons for which a page cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("failed.csv is not there any more")]
    Absent,
    #[error("failed.csv is another than the cursor's")]
    Changed,
    #[error("the cursor leads to no row of failed.csv")]
    Astray,
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error(transparent)]
    Port(#[from] PortError),
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Absent => no_report().into(),
            PageError::Changed => {
                let detail = "the failed items are others now; start again without a cursor";
                Problem::invalid(vec![FieldError::new("/cursor", "stale_cursor", detail)]).into()
            }
            PageError::Astray => Problem::invalid(vec![paging::bad_cursor()]).into(),
            PageError::Damaged(error) => Self::Ours(Box::new(error)),
            PageError::Port(error) => error.into(),
        }
    }
}
