//! Handlers of registered job types.

pub(crate) mod list;
