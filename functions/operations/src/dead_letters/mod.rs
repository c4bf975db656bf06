//! Dead letters of all tenants: list, show, replay, discard.

pub(crate) mod document;
pub(crate) mod find;
pub(crate) mod list;
pub(crate) mod openapi;
pub(crate) mod replay_job;
pub(crate) mod replay_plan;
pub(crate) mod resolve;
pub(crate) mod show;
