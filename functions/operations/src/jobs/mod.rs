//! Jobs of all tenants.

pub(crate) mod document;
pub(crate) mod filter;
pub(crate) mod list;
pub(crate) mod read;
