//! In-memory adapters of Longshore's ports, for tests of job types and functions.
//!
//! They behave as the adapters of AWS do, which one conformance suite verifies, and refuse what AWS refuses: too large
//! an item, a message or key with characters that are not allowed, too many parts. Clones share their contents.
//!
//! | adapter | instead of |
//! | --- | --- |
//! | [`MemoryStore`] | the jobs table |
//! | [`MemoryRecords`] | the records table |
//! | [`MemoryQueues`] | the queues and their dead-letter queues |
//! | [`MemoryFiles`] | the bucket |

mod files;
mod queues;
mod records;
mod store;

pub use files::{MemoryFiles, MemoryStream};
pub use queues::{MemoryQueues, SentChunk};
pub use records::MemoryRecords;
pub use store::{GroupWrite, JobItem, MemoryStore};
