//! The answer of a call that cannot read what is stored: nothing is wrong with the request, which may be made again.

use longshore::http::Failure;
use longshore::problem::{Kind, Problem};

/// Seconds of `Retry-After`: S3's own retries have taken that long already.
const AGAIN_S: u32 = 10;

/// Returns 503 `unavailable`. The cause is logged here and nowhere else.
pub(crate) fn unreadable(cause: &str, detail: &str) -> Failure {
    tracing::error!(error = cause, detail, "a call could not read what is stored");
    Problem::new(Kind::Unavailable, detail).retry_after(AGAIN_S).into()
}
