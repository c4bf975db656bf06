//! Retries of the failed items of several jobs.

pub(crate) mod create;
pub(crate) mod document;
mod request;
mod retrier;
