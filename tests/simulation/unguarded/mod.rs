//! In-memory services with one of their conditions removed. The simulation must then detect a violation.
//!
//! The removed condition is set per thread, for one run. If none is removed, the services are unchanged.

mod condition;
mod handlers;
mod jobs;
mod ledger;
mod pauses;
mod records;
mod schedules;
mod services;
mod webhooks;

use condition::NONCE;

pub(crate) use condition::{Unguarded, as_is, remove_condition, without};
pub(crate) use handlers::reply_as_taken;
pub(crate) use services::stored_key;
