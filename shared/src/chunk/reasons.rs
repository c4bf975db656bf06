//! Reasons for which an item fails without a decision of its handler, or a job fails without its source.

use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::outcome::Rejection;
use longshore_domain::remote::HANDLER_FAILED;

/// Code of items that failed because their chunk was dead-lettered.
pub const DEAD_LETTERED: &str = "dead_lettered";

/// Codes of failed items of registered types that are not the handler's own, without those of the item schema.
const OWN_CODES: [&str; 13] = [
    DEAD_LETTERED,
    HANDLER_FAILED,
    "cell_error",
    "handler_unavailable",
    "invalid_output",
    "malformed_json",
    "not_utf8",
    "output_too_large",
    "retries_exhausted",
    "row_too_long",
    "too_few_cells",
    "too_many_cells",
    "unterminated_quote",
];

/// Returns true if a failed item of a registered type has its code from this deployment, and not from its handler.
pub(crate) fn is_own(code: &str) -> bool {
    OWN_CODES.contains(&code) || code.starts_with("schema_")
}

/// Hint for a row whose handler did not finish, or got no response to an operation that it had started.
const MAY_BE_DONE: &str = "the row may have been written nevertheless; a retry of an import writes no row twice; for \
                           another job type, check first whether the row was written";

/// Hint for a row of a registered type, whose handler asked for each retry.
const RETRY_WHEN_FIXED: &str = "correct the row, or retry this code once the cause is fixed";

/// Kind of handler that had an item.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum HandlerKind {
    /// Code of this deployment.
    Local,
    /// The function or endpoint of a registered type.
    Remote,
}

impl HandlerKind {
    /// Returns the kind of a job's handler.
    pub(super) fn of(job: &Job) -> Self {
        if job.is_registered { Self::Remote } else { Self::Local }
    }
}

pub(super) fn dead_lettered() -> Rejection {
    let message = format!("every worker that processed this row's part of the file crashed or failed; {MAY_BE_DONE}");
    Rejection::new(DEAD_LETTERED, None, message)
}

pub(super) const REMOVED: &str = "removed";

/// Kind of an outage that lasted too long.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Outage {
    /// The handler did not answer its pings.
    Unanswered,
    /// It answered its pings, and failed on batches.
    BatchesFail,
}

/// Returns the reason of items whose handler has been unavailable for too long.
pub(super) fn unavailable(outage: Outage) -> Rejection {
    let message = match outage {
        Outage::Unanswered => {
            "the handler of the job type has not answered for too long; retry the row when it answers again"
        }
        Outage::BatchesFail => {
            "the handler of the job type answers pings, but has failed on every batch for too long; ask an operator, and \
             retry the row once the handler is fixed"
        }
    };
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

/// Returns the reason of an item that spent its tries.
pub(super) fn retries_exhausted(handler: HandlerKind, attempts: u32, last: &str) -> Rejection {
    let hint = match handler {
        HandlerKind::Local => MAY_BE_DONE,
        HandlerKind::Remote => RETRY_WHEN_FIXED,
    };
    Rejection::new("retries_exhausted", None, format!("tried {attempts} times; last error: {last}; {hint}"))
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
    use super::{
        HandlerKind, OWN_CODES, Outage, dead_lettered, handler_panicked, is_own, retries_exhausted, row_too_long,
        unavailable,
    };

    /// The guide lists the codes for those who write handlers.
    #[test]
    fn the_codes_that_are_not_the_handlers_own_are_those_of_the_guide() {
        let guide = include_str!("../../../docs/guides/job-types.md");
        let (_, rest) = guide.split_once("Codes of failed items that are not the handler's own: ").unwrap();
        let (listed, _) = rest.split_once("and those of the item schema").unwrap();
        let mut listed: Vec<_> = listed.split('`').skip(1).step_by(2).collect();
        listed.sort_unstable();
        let mut codes = OWN_CODES;
        codes.sort_unstable();
        assert_eq!(listed, codes);
        assert!(is_own("schema_type") && !is_own("no_such_customer"));
    }

    #[test]
    fn the_message_mentions_that_the_row_may_have_been_written() {
        for rejection in [dead_lettered(), handler_panicked(), retries_exhausted(HandlerKind::Local, 6, "no answer")] {
            assert!(rejection.message.contains("may have been written"), "{}", rejection.message);
        }
    }

    #[test]
    fn a_row_of_a_registered_type_is_retried_once_the_cause_is_fixed() {
        let message = retries_exhausted(HandlerKind::Remote, 5, "busy").message;
        assert!(message.ends_with("last error: busy; correct the row, or retry this code once the cause is fixed"));
        assert!(!message.contains("import"), "{message}");
    }

    #[test]
    fn a_handler_that_answers_pings_is_not_told_as_one_that_does_not() {
        let message = |outage| unavailable(outage).message;
        assert!(message(Outage::Unanswered).contains("has not answered"));
        let failing = message(Outage::BatchesFail);
        assert!(failing.contains("has failed on every batch") && !failing.contains("not answered"), "{failing}");
    }

    #[test]
    fn a_small_limit_is_reported_in_bytes() {
        assert!(row_too_long(1_024).message.contains("1024 bytes"));
        assert!(row_too_long(16 << 20).message.contains("16 MiB"));
    }
}
