//! Retries of the failed items of several jobs.

pub(crate) mod create;
pub(crate) mod one;
mod request;
