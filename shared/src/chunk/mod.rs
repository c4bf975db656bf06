//! Processes one chunk: reads its cursor, skips what is committed, calls the handler, commits.
//!
//! The worker that processes a chunk and the sweeper that gives up a chunk share this code, so that they cannot count
//! differently. If a chunk is delivered twice, the second delivery finds the cursor moved and adds nothing. If a worker
//! dies at any point, the next delivery continues from the last commit and passes the items after it to the handler
//! again, under the same keys. This code never deletes a message, and never decides from a read after a write.

mod attempt;
mod batch_of_items;
mod batch_size;
mod chain;
mod chunk_reader;
mod chunk_records;
mod commit;
mod definition_cache;
mod delivery;
mod delivery_recorder;
mod ending;
mod function;
mod items;
mod limiter;
pub(crate) mod reasons;
mod remote_batch;
mod remote_calls;
mod remote_ends;
mod remote_rate;
mod remote_state;
mod report_groups;
mod stored;
mod tally;
mod tolerance_stop;
mod usage;
mod work;
mod worker;

pub use chain::{
    CHAIN_READS, EndedChunk, OpenItems, READ_BYTES, Remaining, RemainingError, concurrent_reads, open_items,
    read_chain, read_first, read_remaining,
};
pub use chunk_reader::{ChunkReader, ChunkRows, Slice};
pub use definition_cache::{DefinitionCache, PreparedDefinition};
pub use delivery::{ChunkEnd, ChunkError, Mode};
pub use delivery_recorder::DeliveryRecorder;
pub use ending::{complete_if_done, request_completion, roll_up, stop_job};
pub use function::ChunkFunction;
pub use limiter::ConcurrencyLimiter;
pub use reasons::{DEAD_LETTERED, source_changed, source_missing};
pub use report_groups::{EndedGroups, GroupMissing, IncludedRows, ReportChunk, ReportGroup};
pub use worker::{CostMeter, TURN_S, Worker};
