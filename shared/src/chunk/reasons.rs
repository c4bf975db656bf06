//! Reasons for which an item fails without a decision of its handler, or a job fails without its source.

use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::outcome::Rejection;

/// Code of items that failed because their chunk was dead-lettered.
pub const DEAD_LETTERED: &str = "dead_lettered";

/// Hint for a row whose handler did not finish, or got no response to an operation that it had started.
const MAY_BE_DONE: &str = "the row may have been written nevertheless; a retry of an import writes no row twice; for \
                           another job type, check first whether the row was written";

pub(super) fn dead_lettered() -> Rejection {
    let message = format!("every worker that processed this row's part of the file crashed or failed; {MAY_BE_DONE}");
    Rejection::new(DEAD_LETTERED, None, message)
}

pub(super) const REMOVED: &str = "removed";

/// Returns the reason of items whose handler has been unavailable for too long.
pub(super) fn unavailable() -> Rejection {
    let message = "the handler of the job type has not answered for too long; retry the row when it answers again";
    Rejection::new("handler_unavailable", None, message)
}

/// Returns the reason of an item on which its handler panicked alone.
pub(super) fn handler_panicked() -> Rejection {
    let message = format!("the handler panicked on this row; see its log; {MAY_BE_DONE}");
    Rejection::new("handler_panicked", None, message)
}

pub(super) fn row_too_long(limit_bytes: u64) -> Rejection {
    let limit = match limit_bytes >> 20 {
        0 => format!("{limit_bytes} bytes"),
        mib => format!("{mib} MiB"),
    };
    let message = format!("the row is longer than {limit}, the maximum for one row; its contents are omitted");
    Rejection::new("row_too_long", None, message)
}

pub(super) fn retries_exhausted(attempts: u32, last: &str) -> Rejection {
    Rejection::new("retries_exhausted", None, format!("tried {attempts} times; last error: {last}; {MAY_BE_DONE}"))
}

/// Returns the error of a source that no longer exists.
pub fn source_missing(source: &SourceFile) -> JobError {
    JobError::new("source_missing", format!("the file {:?} no longer exists; upload it again", source.name))
}

/// Returns the error of a source that has changed since the job was created.
pub fn source_changed(source: &SourceFile) -> JobError {
    let message = format!("the file {:?} was replaced while the job ran; upload it again as a new file", source.name);
    JobError::new("source_changed", message)
}

#[cfg(test)]
mod tests {
    use super::{dead_lettered, handler_panicked, retries_exhausted, row_too_long};

    #[test]
    fn the_message_mentions_that_the_row_may_have_been_written() {
        for rejection in [dead_lettered(), handler_panicked(), retries_exhausted(6, "no answer")] {
            assert!(rejection.message.contains("may have been written"), "{}", rejection.message);
        }
    }

    #[test]
    fn a_small_limit_is_reported_in_bytes() {
        assert!(row_too_long(1_024).message.contains("1024 bytes"));
        assert!(row_too_long(16 << 20).message.contains("16 MiB"));
    }
}
