//! Processes one chunk: reads its cursor, skips what is committed, calls the handler, commits.
//!
//! The worker that processes a chunk and the sweeper that gives one up share this code, so that they cannot
//! count differently. If a chunk is delivered twice, the second delivery finds the cursor moved and adds
//! nothing. If a worker dies at any point, the next delivery continues from the last commit and offers the
//! items after it to the handler again, under the same keys. This code never deletes a message, and never
//! decides from a read after a write.

mod attempt;
mod chain;
mod commit;
mod concurrency;
mod delivery;
mod ending;
mod items;
mod known;
mod reasons;
mod receipts;
mod remaining;
mod tally;
mod work;
mod worker;

pub use chain::{CHAIN_READS, deferred_in, read_chain};
pub use concurrency::ConcurrencyLimiter;
pub use delivery::{ChunkEnd, ChunkError, Mode};
pub use ending::{ask_for_completion, complete_if_done, roll_up, stop_job};
pub use items::{source_changed, source_missing};
pub use known::{KnownJob, KnownJobs};
pub use reasons::DEAD_LETTERED;
pub use receipts::Receipts;
pub use remaining::{EndedChunk, Remaining, RemainingError, read_remaining};
pub use worker::{TURN_S, Worker};
