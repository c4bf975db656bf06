//! Splits a job's file into chunks and sends them to the workers.
//!
//! - **Trigger:** `create-job.fifo`, from the API, from this function's own continuations and from the sweeper.
//! - **Reads and writes:** the source, streamed once; one transaction per group (group, manifest, split cursor), then
//!   its chunk messages; at the end the job's final item count.
//! - **A dataset:** its keys are read in order and written to an item file per group; the transaction that commits the
//!   group names the file and moves the job's place in the walk.
//! - **A part of another job:** its items are read from that job's groups and copied in the same way. Nothing of that
//!   job is needed afterwards; if it is removed before, the job fails.
//! - **An undo:** its items are the rows of its import, then the rows that the import's retries replanned, from their
//!   work files. The transaction that commits a group moves the job's place among the import's chunks.
//! - **Retries:** the remaining items of the previous generation are replanned into new groups; the old groups are not
//!   changed. A corrected file is read completely; it selects the failed items that run again, and their new contents.
//!   For replayed dead letters, the work files of their chunks select the items; they are read when one of their items
//!   may be replanned.
//! - **Delivered twice:** the split cursor is the guard. If two splitters race, one commits a group and the other
//!   stops.
//! - **If it fails:** the next delivery continues from the split cursor, after it has sent again every committed group
//!   that is not known to be sent. A duplicate chunk message is harmless.
//! - **If it fails again:** the second delivery puts a copy of the message into the copies lane and acknowledges the
//!   original, so that the tenant's other jobs do not wait behind it.
//! - **Paused:** a delivery that begins during a pause of the job acknowledges its message, and resets the count of the
//!   sweeper's re-sends. The split keeps its place, and the sweeper sends a message after the pause.
//! - **Fair:** a delivery lasts one turn of some seconds, and then sends a continuation to the end of its tenant's
//!   lane.
//! - **Never:** holds more in memory than a block and a group of small chunks, or the item file of one group (32 MiB)
//!   with some chunks of the job that it is copied from, and a corrected file; sends a chunk whose group is not
//!   committed.

mod dataset_keys;
mod dead_letters;
mod function;
mod group_builder;
mod item_file_builder;
mod outcome;
mod part_items;
mod part_place;
mod part_source;
mod pass;
mod record_copier;
mod replanned_chunks;
mod retry_planner;
mod retry_selection;
mod split;
mod splitter;
mod too_slow;
mod undo_planner;
mod unsplit;
mod walk;

pub use function::{CreateJob, serve};
pub use outcome::{SplitEnd, SplitError};
pub use split::TURN_S;
pub use splitter::Splitter;
