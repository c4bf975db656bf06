//! In-memory services with a step before and after every call, at which a function waits, is killed, or has a fault.
//!
//! A read of several records consists of several reads, as with the real table: other functions can write in between.

mod files;
mod limits;
mod pauses;
pub(crate) mod queues;
mod schedules;
mod services;
mod webhooks;

use services::{cloned, stepwise};

pub(crate) use services::Stepwise;
