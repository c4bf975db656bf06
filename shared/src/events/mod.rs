//! Events: their move to the list of their tenant, and their form outside of this program.

mod document;
mod moves;

pub use document::{EventCounts, EventData, EventDocument, EventLinks, JobEventData};
pub use moves::{move_events, move_events_now};
