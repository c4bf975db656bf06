//! Why an item fails without its handler having said so: codes for programs, sentences for people.

use longshore_domain::outcome::Rejection;

/// The code of items that were given up with their chunk.
pub const DEAD_LETTERED: &str = "dead_lettered";

pub(super) fn dead_lettered() -> Rejection {
    let message = "the workers that tried this row's part of the file died or failed again and again";
    Rejection::new(DEAD_LETTERED, None, message)
}

pub(super) fn handler_panicked() -> Rejection {
    Rejection::new("handler_panicked", None, "the handler panicked over this row; its log says where")
}

pub(super) fn row_too_long(limit_bytes: u64) -> Rejection {
    let mib = limit_bytes >> 20;
    let message = format!("the row is longer than {mib} MiB, the most that one row may be; it is not repeated here");
    Rejection::new("row_too_long", None, message)
}

pub(super) fn retries_exhausted(attempts: u32, last: &str) -> Rejection {
    Rejection::new("retries_exhausted", None, format!("tried {attempts} times; the last time: {last}"))
}
