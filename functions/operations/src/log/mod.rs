//! The log of operators' actions.

pub(crate) mod audited;
pub(crate) mod list;
pub(crate) mod reason;
