//! The state of a run: running functions, messages in their queues, jobs and their clients.

mod acts;
mod client;
mod delivery;
mod drive;
mod ended;
mod event_list;
mod events;
mod expiry;
mod function;
mod operators;
mod oracle;
mod previews;
mod removal;
mod replays;
mod sources;
mod state;
mod stories;
mod undos;

use state::{DEDUPLICATION_MS, MAX_HOPS, MAX_RECEIVES, MAX_STEPS, RESERVE_S, TEMPLATE_RECEIVES, now};

pub(crate) use acts::Act;
pub(crate) use removal::Removals;
pub(crate) use state::World;
pub(crate) use stories::Turns;
pub(crate) use undos::What;
