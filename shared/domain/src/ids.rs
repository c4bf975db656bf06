//! Ids. A job id is a UUIDv7, so that jobs sort by age; an upload id is random, so that it cannot be guessed.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::timestamp::Timestamp;

/// Identifies a chunk within its job; ordered by group, then by chunk.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ChunkId {
    /// Number of the group.
    pub group: u32,
    /// Number of the chunk within the group.
    pub chunk: u32,
}

impl ChunkId {
    /// Creates an id from the numbers of group and chunk.
    pub const fn new(group: u32, chunk: u32) -> Self {
        Self { group, chunk }
    }
}

/// The idempotency key of one item: the same for every attempt, different for every other item.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct ItemKey {
    /// The job.
    pub job_id: JobId,
    /// Number of the item in the file, from 1.
    pub number: u64,
}

impl std::fmt::Display for ItemKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.job_id, self.number)
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $new:expr) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = String, format = "uuid")]
        pub struct $name(pub Uuid);

        impl $name {
            /// Generates a new, unique id.
            pub fn generate() -> Self {
                Self($new)
            }

            /// Parses an id from a path or a message; `None` if it is not a UUID.
            pub fn parse(text: &str) -> Option<Self> {
                Uuid::try_parse(text).ok().map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// Identifies a job.
    JobId,
    crate::random::ordered_id()
);
impl JobId {
    /// Generates the id of a job that starts at this time: its writes count as made then.
    pub fn generate_at(start: Timestamp) -> Self {
        Self(crate::random::ordered_id_at(u64::try_from(start.0).unwrap_or(0)))
    }
}

id!(
    /// Identifies an endpoint of a webhook.
    EndpointId,
    Uuid::new_v4()
);
id!(
    /// Identifies a schedule.
    ScheduleId,
    Uuid::new_v4()
);
id!(
    /// Identifies a pause.
    PauseId,
    Uuid::new_v4()
);
id!(
    /// Identifies an upload and its file.
    FileGuid,
    Uuid::new_v4()
);
