//! An ended job over slow files, and the deliveries that split its next generation.

mod slow_files;
mod world;

pub(crate) use slow_files::READ_MS;
pub(crate) use world::{CHUNKS, Chain, INVOCATION_MS, World, entry, failed};
