//! Why an item fails without its handler having said so: codes for programs, sentences for people.

use longshore_domain::outcome::Rejection;

/// The code of items that were given up with their chunk.
pub const DEAD_LETTERED: &str = "dead_lettered";

/// What is not known of a row whose handler did not come to an end.
const MAY_BE_DONE: &str =
    "the row may have been written all the same: look whether it is there, or retry the job, which does no row twice";

pub(super) fn dead_lettered() -> Rejection {
    let message =
        format!("the workers that tried this row's part of the file died or failed again and again; {MAY_BE_DONE}");
    Rejection::new(DEAD_LETTERED, None, message)
}

pub(super) fn handler_panicked() -> Rejection {
    let message = format!("the handler panicked over this row, its log says where; {MAY_BE_DONE}");
    Rejection::new("handler_panicked", None, message)
}

pub(super) fn row_too_long(limit_bytes: u64) -> Rejection {
    let mib = limit_bytes >> 20;
    let message = format!("the row is longer than {mib} MiB, the most that one row may be; it is not repeated here");
    Rejection::new("row_too_long", None, message)
}

pub(super) fn retries_exhausted(attempts: u32, last: &str) -> Rejection {
    Rejection::new("retries_exhausted", None, format!("tried {attempts} times; the last time: {last}"))
}

#[cfg(test)]
mod tests {
    use super::{dead_lettered, handler_panicked};

    #[test]
    fn a_row_that_may_have_been_written_says_so() {
        for rejection in [dead_lettered(), handler_panicked()] {
            assert!(rejection.message.contains("may have been written"), "{}", rejection.message);
        }
    }
}
