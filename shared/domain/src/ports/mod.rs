//! Ports: the traits through which the rules use storage, queues and files, in the domain's terms. Adapters and
//! in-memory fakes implement them and pass one conformance suite.
//!
//! Every write is conditional or idempotent. The result of a condition is a named outcome; [`PortError`] is for
//! unexpected failures.

mod concurrency;
mod conditional_write;
mod created;
mod dead_letters;
mod error;
mod events;
mod files;
mod handler_states;
mod job_types;
mod jobs;
mod ledger;
mod limits;
mod listing;
mod operator_log;
mod pauses;
mod presets;
mod queue_statistics;
mod queues;
mod record_reader;
mod record_versions;
mod records;
mod schedules;
mod sweeps;
mod transitions;
mod uploads;
mod webhooks;

pub use concurrency::{Acquisition, ParkedChunks, Permits, WakeMark};
pub use conditional_write::ConditionalWrite;
pub use created::{Created, IdempotencyKey, Reopened, Started, UndoCreated};
pub use dead_letters::{
    DeadLetter, DeadLetterQueues, DeadLetterRecords, DeadLetters, Received, RedriveToSource, UnreadableMessage,
};
pub use error::{Busy, PortError, PortResult, Unavailable};
pub use events::{Events, EventsMoved};
pub use files::{FileInfo, FileStream, Files, MultipartFiles, MultipartOutcome, MultipartUpload, PrefixRemoval, Read};
pub use handler_states::{HandlerStates, Replaced, Reserved};
pub use job_types::{JobTypes, PingRecord, TypeDeletion, TypeWrite};
pub use jobs::{Definition, Detected, JobStore, Upload};
pub use ledger::{ChunkState, JobProgress, Ledger, Removal, ResendCount, UploadRelease};
pub use limits::{CallCount, CallWindow, QuotaExceeded, TenantCounts, TenantLimits};
pub use listing::{CreatedRange, JobPosition, JobsOf, JobsPage, JobsQuery, Page};
pub use operator_log::OperatorLog;
pub use pauses::{PauseOutcome, PauseRecords, Pauses};
pub use presets::Presets;
pub use queue_statistics::{MessageCounts, QueueAges, QueueCounts, StackQueue};
pub use queues::{InFlight, PingQueue, QueueDepth, Queues, Visibility};
pub use record_reader::{KeyPage, KeyWalk, KnownRecords, RecordReader};
pub use record_versions::{KnownVersions, Overwrite, RecordVersions, Revert};
pub use records::{DatasetInfo, ListError, NewRecord, RecordStore, StoredRecord};
pub use schedules::{FireWrite, Firing, OccurrencesQuery, Schedules};
pub use sweeps::{ByAge, DeliveryRecord, DeliveryRecords, Sweeps};
pub use transitions::JobTransitions;
pub use uploads::{DownloadUrls, PartStorage, PutUrl, ReceivedPart, UploadStorage};
pub use webhooks::{CallTimes, DeliveriesFrom, DeliveriesQuery, Webhooks};

/// Storage of everything about jobs.
pub trait Store:
    JobStore
    + JobTransitions
    + Ledger
    + Permits
    + ParkedChunks
    + HandlerStates
    + Presets
    + Pauses
    + DeliveryRecords
    + Events
    + Webhooks
    + Schedules
{
}
impl<T> Store for T where
    T: JobStore
        + JobTransitions
        + Ledger
        + Permits
        + ParkedChunks
        + HandlerStates
        + Presets
        + Pauses
        + DeliveryRecords
        + Events
        + Webhooks
        + Schedules
{
}
