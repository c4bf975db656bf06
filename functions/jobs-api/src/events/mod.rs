//! The events of a tenant.

pub(crate) mod document;
pub(crate) mod list;
