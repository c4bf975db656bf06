//! The response if stored data cannot be read. The request is valid and can be retried.

use longshore::http::Failure;
use longshore::problem::{Kind, Problem};

/// `Retry-After` in seconds. The S3 client has already retried for some seconds.
const AGAIN_S: u32 = 10;

/// Returns 503 `unavailable`. The cause is logged here and nowhere else.
pub(crate) fn unreadable(cause: &str, detail: &str) -> Failure {
    tracing::error!(error = cause, detail, "a call cannot read stored data");
    Problem::new(Kind::Unavailable, detail).retry_after(AGAIN_S).into()
}
