//! Parameters that calls of several functions take.

use utoipa::IntoParams;

/// `Idempotency-Key`, as `http::idempotency` reads it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKeyHeader {
    /// Chosen by the client for one request, a UUID for instance. Kept for 24 hours; with another request it is refused
    /// with 422. Those of jobs and of uploads are apart. A request that is refused does not use its key up.
    #[param(
        rename = "Idempotency-Key",
        required = false,
        min_length = 1,
        max_length = 255,
        pattern = "^[!-~]([ -~]*[!-~])?$",
        example = "7f9c24e5-2f0c-4f6e-9d36-0d6f3e6b7a11"
    )]
    pub idempotency_key: String,
}

/// `cursor`, as `http::paging` makes it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageCursor {
    /// The `nextCursor` of the page before.
    #[param(required = false, min_length = 1, pattern = "^[A-Za-z0-9_-]+$")]
    pub cursor: String,
}
