//! Ports: the traits through which the rules use storage, queues and files, in the domain's terms. Adapters and
//! in-memory fakes implement them and pass one conformance suite.
//!
//! Every write is conditional or idempotent. The result of a condition is a named outcome; [`PortError`] is for
//! unexpected failures.

mod concurrency;
mod created;
mod dead_letter_queues;
mod dead_letters;
mod deliveries;
mod error;
mod files;
mod jobs;
mod ledger;
mod limits;
mod listing;
mod multipart;
mod page;
mod queues;
mod sweeps;
mod transitions;

pub use concurrency::{ParkedChunks, Permits};
pub use created::{Created, IdempotencyKey, Started};
pub use dead_letter_queues::{DeadLetter, DeadLetterQueues, DeadLetters, Received, RedriveToSource, Unreadable};
pub use dead_letters::DeadLetterRecords;
pub use deliveries::{Delivered, DeliveryRecords};
pub use error::{Busy, PortError, PortResult};
pub use files::{FileInfo, FileStream, Files, Read};
pub use jobs::{Definition, JobStore, Upload};
pub use ledger::{ChunkState, Ledger, Removal};
pub use limits::{CallWindow, Reopened, TenantCounts, TenantLimits};
pub use listing::{JobPosition, JobsPage, JobsWanted};
pub use multipart::{MultipartFiles, MultipartUpload};
pub use page::Page;
pub use queues::{InFlight, QueueDepth, Queues, Visibility};
pub use sweeps::{ByAge, Sweeps};
pub use transitions::JobTransitions;

/// Storage of everything about jobs.
pub trait Store: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords {}
impl<T: JobStore + JobTransitions + Ledger + Permits + ParkedChunks + DeliveryRecords> Store for T {}
