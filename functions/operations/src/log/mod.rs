//! The log of operators' actions.

pub(crate) mod act;
pub(crate) mod list;
pub(crate) mod reason;
