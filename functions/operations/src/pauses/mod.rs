//! Pauses of job types and tenants.

pub(crate) mod create;
pub(crate) mod end;
pub(crate) mod list;
