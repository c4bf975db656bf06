//! Parameters that several functions' calls take.

use utoipa::IntoParams;

/// `Idempotency-Key`, as parsed by `http::idempotency`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKeyHeader {
    /// Chosen by the client for one request, for example a UUID. Kept for 24 hours; reuse with another request is
    /// refused with 422. Keys of jobs and keys of uploads are independent. A refused request does not use up its key.
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

/// `cursor`, as encoded by `http::paging`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageCursor {
    /// The `nextCursor` of the previous page.
    #[param(required = false, min_length = 1, pattern = "^[A-Za-z0-9_-]+$")]
    pub cursor: String,
}
