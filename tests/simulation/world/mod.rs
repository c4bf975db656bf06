//! The state of a run: running functions, messages in their queues, jobs and their clients.

mod accept;
mod acts;
mod chaos;
mod client;
mod concurrency;
mod customer;
mod delivery;
mod drive;
mod ended;
mod expiry;
mod function;
mod message;
mod oracle;
mod replays;
mod services;
mod starved;
mod state;
mod tasks;

use state::{DEDUPLICATION_MS, MAX_HOPS, MAX_RECEIVES, MAX_STEPS, RESERVE_S, TEMPLATE_RECEIVES, now};

pub(crate) use starved::Turns;
pub(crate) use state::World;
