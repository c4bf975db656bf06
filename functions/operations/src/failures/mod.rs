//! Failed items of all tenants, grouped by job type and code.

pub(crate) mod group;
pub(crate) mod list;
