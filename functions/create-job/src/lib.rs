//! Splits a job's file into chunks and sends them to the workers.
//!
//! - **Trigger:** `create-job.fifo`, from the API, from this function's own continuations and from the sweeper.
//! - **Reads and writes:** the source, streamed once; one transaction per group (group, manifest, split cursor), then
//!   its chunk messages; at the end the job's final item count.
//! - **Delivered twice:** the split cursor is the guard. Of two splitters one commits a group, the other stops.
//! - **If it fails:** the next delivery goes on from the split cursor, after sending again every group that is
//!   committed and not known to be sent. A duplicate chunk message is harmless.
//! - **Never:** holds more than a block and a chunk in memory, sends a chunk whose group is not committed.

mod group_builder;
mod splitter;

pub use splitter::{SplitEnd, SplitError, Splitter};
