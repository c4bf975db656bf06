//! The records that imports write: the adapters of [`RecordStore`](longshore_domain::ports::RecordStore).
//!
//! The rule: of all writers of a key, the same one wins, whatever their order and however often each write is
//! repeated. So a redelivered chunk, a late chunk and two concurrent jobs leave the same records as one run in order.

pub mod cursor;
mod dynamo;
pub mod shard;
mod size;
mod version_collector;

pub use dynamo::{DynamoRecords, list_key};
pub use size::{MAX_ITEM_BYTES, MAX_KEY_BYTES, Misfit, fits};
pub use version_collector::{VERSIONS_BYTES, VersionCollector};
