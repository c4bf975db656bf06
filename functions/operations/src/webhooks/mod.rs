//! Webhooks of a tenant.

pub(crate) mod list;
