//! Reasons for which an item fails without a decision of its handler: codes for programs, sentences for
//! people.

use longshore_domain::outcome::Rejection;

/// The code of items that were given up with their chunk.
pub const DEAD_LETTERED: &str = "dead_lettered";

/// Hint for a row whose handler did not finish, or got no reply to an operation that it had begun.
const MAY_BE_DONE: &str = "the row may have been written anyway: a retried import writes no row twice; for another \
                           job type, check first whether the row was written";

pub(super) fn dead_lettered() -> Rejection {
    let message =
        format!("the workers that tried this row's part of the file died or failed again and again; {MAY_BE_DONE}");
    Rejection::new(DEAD_LETTERED, None, message)
}

pub(super) fn handler_panicked() -> Rejection {
    let message = format!("the handler panicked on this row, see its log; {MAY_BE_DONE}");
    Rejection::new("handler_panicked", None, message)
}

pub(super) fn row_too_long(limit_bytes: u64) -> Rejection {
    let limit = match limit_bytes >> 20 {
        0 => format!("{limit_bytes} bytes"),
        mib => format!("{mib} MiB"),
    };
    let message = format!("the row is longer than {limit}, the maximum for one row; it is not repeated here");
    Rejection::new("row_too_long", None, message)
}

pub(super) fn retries_exhausted(attempts: u32, last: &str) -> Rejection {
    Rejection::new("retries_exhausted", None, format!("tried {attempts} times; the last time: {last}; {MAY_BE_DONE}"))
}

#[cfg(test)]
mod tests {
    use super::{dead_lettered, handler_panicked, retries_exhausted, row_too_long};

    #[test]
    fn a_row_that_may_have_been_written_says_so() {
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
