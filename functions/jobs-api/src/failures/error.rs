//! Reasons for which a page of failed items cannot be read.

use longshore::field_error::FieldError;
use longshore::http::{Failure, paging};
use longshore::problem::Problem;
use longshore_domain::ports::PortError;

use crate::output::stored::no_report;

/// The file is not in the format that completion writes.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("failed.csv is damaged")]
pub(super) struct Damaged;

/// Reasons for which a page cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("failed.csv no longer exists")]
    Absent,
    #[error("failed.csv is not the version that the cursor refers to")]
    Changed,
    #[error("the cursor does not point to a row of failed.csv")]
    InvalidCursor,
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
                let detail = "the failed items have changed; start again without a cursor";
                Problem::invalid(vec![FieldError::new("/cursor", "stale_cursor", detail)]).into()
            }
            PageError::InvalidCursor => Problem::invalid(vec![paging::bad_cursor()]).into(),
            PageError::Damaged(error) => Self::Internal(Box::new(error)),
            PageError::Port(error) => error.into(),
        }
    }
}
