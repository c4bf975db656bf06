//! Response documents for dead letters.

use longshore::http::Viewer;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue, ResolutionKind};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use serde::Serialize;
use utoipa::ToSchema;

use super::replay_plan::{Effect, ReplayPlan};

/// Reason of an unreadable message, without the parser's error.
const UNREADABLE: &str = "the message cannot be read";

/// Kind of work that a dead letter requested.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeadLetterKind {
    /// Splitting of a job's file.
    Create,
    /// Processing of a chunk.
    Chunk,
    /// Completion of a job.
    Complete,
    /// Unknown: the message is not valid for its queue.
    Unreadable,
}

impl DeadLetterKind {
    fn new(dead_letter: &DeadLetterMessage) -> Self {
        match dead_letter {
            DeadLetterMessage::Create(_) => Self::Create,
            DeadLetterMessage::Chunk(_) => Self::Chunk,
            DeadLetterMessage::Complete(_) => Self::Complete,
            DeadLetterMessage::Unreadable { .. } => Self::Unreadable,
        }
    }
}

/// Resolution of a dead letter.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeadLetterState)]
pub enum DeadLetterState {
    /// Not resolved yet.
    Open,
    /// Replayed by an operator.
    Replayed,
    /// Discarded by an operator.
    Discarded,
}

impl DeadLetterState {
    fn new(dead_letter: &DeadLetterRecord) -> Self {
        match dead_letter.resolution.as_ref().map(|resolution| resolution.kind) {
            None => Self::Open,
            Some(ResolutionKind::Replayed) => Self::Replayed,
            Some(ResolutionKind::Discarded) => Self::Discarded,
        }
    }
}

/// Paths of a dead letter's resources and actions.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct DeadLetterLinks {
    /// Path of the dead letter with its body. `DELETE` discards it.
    #[serde(rename = "self")]
    #[schema(format = "uri-reference")]
    pub itself: String,
    /// Path of the `POST` that replays it; `null` while a replay would have no effect.
    #[schema(format = "uri-reference", required = true)]
    pub replay: Option<String>,
}

/// A dead letter, without the data of any row.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetter)]
pub struct DeadLetterDocument {
    /// Id of the dead letter. Ids sort by time.
    pub letter_id: String,
    /// Queue whose message failed.
    pub queue: Queue,
    /// Kind of work that the message requested.
    pub kind: DeadLetterKind,
    /// Reason why the message was dead-lettered.
    pub reason: String,
    /// Job of the message. `null` for an unreadable message, like the following properties that come from the message.
    #[schema(required = true)]
    pub job_id: Option<JobId>,
    /// Tenant of the job; `null` if no longer known.
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// Current status of the job; `null` if the job no longer exists.
    #[schema(required = true)]
    pub job_status: Option<Status>,
    /// Generation of the job that the message belongs to: 0, plus one for each retry; `null` for a chunk, whose group
    /// determines it.
    #[schema(required = true)]
    pub generation: Option<u32>,
    /// Number of the chunk's group.
    #[schema(required = true)]
    pub group: Option<u32>,
    /// Number of the chunk within its group.
    #[schema(required = true)]
    pub chunk: Option<u32>,
    /// Number of the chunk's first item.
    #[schema(required = true)]
    pub first_item: Option<u64>,
    /// Items of the chunk.
    #[schema(required = true)]
    pub item_count: Option<u32>,
    /// Time when the message was sent, in RFC 3339.
    #[schema(format = DateTime)]
    pub sent_at: String,
    /// Time when the sweeper first received the message from the dead-letter queue, in RFC 3339.
    #[schema(format = DateTime)]
    pub seen_at: String,
    /// Number of receives until `seenAt`.
    pub receives: u32,
    /// Size of the message body in bytes.
    pub size_bytes: u64,
    /// Resolution of the dead letter.
    pub state: DeadLetterState,
    /// Operator who resolved it: the token's claim `sub`.
    #[schema(required = true)]
    pub settled_by: Option<String>,
    /// Time of the resolution, in RFC 3339.
    #[schema(format = DateTime, required = true)]
    pub settled_at: Option<String>,
    /// Effect of a replay now.
    pub replay: Effect,
    /// Paths of related resources.
    pub links: DeadLetterLinks,
}

impl DeadLetterDocument {
    /// Creates the document of a dead letter in its current state.
    pub(crate) fn new(dead_letter: &DeadLetterRecord, ReplayPlan { job, replay }: &ReplayPlan) -> Self {
        let (chunk, control) = match &dead_letter.message {
            DeadLetterMessage::Chunk(message) => (Some(message), None),
            DeadLetterMessage::Create(message) => (None, Some(message.generation)),
            DeadLetterMessage::Complete(message) => (None, Some(message.generation)),
            DeadLetterMessage::Unreadable { .. } => (None, None),
        };
        let effect = if dead_letter.is_open() { Effect::from(*replay) } else { Effect::Nothing };
        let can_be_replayed = !matches!(effect, Effect::Nothing | Effect::Later);
        let path = path(&dead_letter.id);
        Self {
            letter_id: dead_letter.id.clone(),
            queue: dead_letter.queue,
            kind: DeadLetterKind::new(&dead_letter.message),
            reason: reason(dead_letter),
            job_id: dead_letter.message.job_id(),
            tenant: tenant(dead_letter, job.as_ref()),
            job_status: job.as_ref().filter(|job| !job.is_deleted()).map(|job| job.status),
            generation: control,
            group: chunk.map(|message| message.group),
            chunk: chunk.map(|message| message.chunk),
            first_item: chunk.map(|message| message.plan.first),
            item_count: chunk.map(|message| message.plan.items),
            sent_at: dead_letter.sent_at.to_rfc3339(),
            seen_at: dead_letter.seen_at.to_rfc3339(),
            receives: dead_letter.receives,
            size_bytes: dead_letter.size_bytes,
            state: DeadLetterState::new(dead_letter),
            settled_by: dead_letter.resolution.as_ref().map(|resolution| resolution.by.clone()),
            settled_at: dead_letter.resolution.as_ref().map(|resolution| resolution.at.to_rfc3339()),
            replay: effect,
            links: DeadLetterLinks { replay: can_be_replayed.then(|| format!("{path}/replay")), itself: path },
        }
    }
}

impl DeadLetterDocument {
    /// Returns the document as this caller may see it. The parser's error about an unreadable message can repeat a part
    /// of a row.
    pub(crate) fn for_viewer(self, viewer: &Viewer) -> Self {
        let hides_reason = !viewer.sees_rows && self.kind == DeadLetterKind::Unreadable;
        if hides_reason { Self { reason: UNREADABLE.to_owned(), ..self } } else { self }
    }
}

/// Path of a dead letter.
pub(crate) fn path(id: &str) -> String {
    format!("/api/dead-letters/{id}")
}

fn tenant(dead_letter: &DeadLetterRecord, job: Option<&Job>) -> Option<String> {
    match &dead_letter.message {
        DeadLetterMessage::Chunk(message) => Some(message.tenant.clone().into()),
        _ => job.map(|job| job.tenant.clone().into()),
    }
}

fn reason(dead_letter: &DeadLetterRecord) -> String {
    match &dead_letter.message {
        DeadLetterMessage::Create(_) => "the job's splitter crashed or failed on every attempt".to_owned(),
        DeadLetterMessage::Chunk(_) => "every worker that processed the chunk crashed or failed".to_owned(),
        DeadLetterMessage::Complete(_) => "the job's completion crashed or failed on every attempt".to_owned(),
        DeadLetterMessage::Unreadable { reason } => format!("{UNREADABLE}: {reason}"),
    }
}

/// A page of dead letters.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetters)]
pub struct DeadLettersDocument {
    /// Open dead letters, newest first.
    pub dead_letters: Vec<DeadLetterDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A dead letter with its message body.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterContents)]
pub struct DeadLetterContents {
    /// The dead letter.
    pub dead_letter: DeadLetterDocument,
    /// Message body as sent. The message of a small chunk includes its rows. `null` if the body was removed with its
    /// job, or is larger than 350 KiB; also for a read-only operator, who sees no rows.
    #[schema(required = true)]
    pub body: Option<String>,
}

/// Paths of resources related to a replay.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct ReplayLinks {
    /// Path of the job, for its tenant; `null` for an unreadable message.
    #[schema(format = "uri-reference", required = true)]
    pub job: Option<String>,
}

/// Result of a replay.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replay)]
pub struct ReplayDocument {
    /// Replayed dead letters: the requested ones, and others of the same chunks.
    pub replayed: Vec<String>,
    /// Open dead letters of the job that cannot be replayed now.
    pub left: Vec<String>,
    /// Effect of the replay; `nothing` if the dead letter was replayed before.
    pub effect: Effect,
    /// The job.
    #[schema(required = true)]
    pub job_id: Option<JobId>,
    /// Tenant of the job.
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// Generation of the job; the new one if the replay reopened the job.
    #[schema(required = true)]
    pub generation: Option<u32>,
    /// Paths of related resources.
    pub links: ReplayLinks,
}
