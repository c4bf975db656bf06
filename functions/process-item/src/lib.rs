//! Processes one chunk, item by item.
//!
//! - **Trigger:** the queue of chunks, from the splitter, from the previous round, from a worker that ran out of time,
//!   and from the sweeper.
//! - **Records**, about every ten seconds, the sending time of the messages that it receives. The sweeper derives from
//!   it which messages can no longer be waiting.
//! - **Reads and writes:** job and group in one read, and the chunk's range of the source unless it came in the
//!   message; a work file for the items that did not succeed, an object with the outputs of those that did, and one
//!   conditional update per commit. An import writes the previous versions of records to the job's folder before it
//!   overwrites them; an undo reads them from the folder of its import.
//! - **Concurrency limit:** if the job type limits the number of its concurrent chunks, a chunk first takes a permit.
//!   Without a free permit it is parked and its message is acknowledged. A worker that releases a permit wakes the next
//!   parked chunk.
//! - **Delivered twice:** the second delivery finds that the cursor has moved and adds nothing. Items after the last
//!   commit are passed to the handler again, under the same keys.
//! - **If it fails:** the message is delivered again after seconds, then at growing intervals (after its visibility
//!   timeout if the worker died), and work continues from the last commit. After the last receive it reaches the
//!   dead-letter queue, and the sweeper counts its items as failed.
//! - **Paused:** during a pause of the job no batch begins. What was processed is committed, the message is
//!   acknowledged, and the count of the sweeper's re-sends is reset. The sweeper sends the chunk again after the pause.
//! - **Never:** counts without the condition; starts an item more than three seconds after it last read a running job.
//!
//! The processing itself is [`longshore::chunk`], which the sweeper shares.

mod function;

pub use function::{ProcessItem, serve};
