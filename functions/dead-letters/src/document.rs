//! What the calls answer.

use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue, Settlement};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Effect;
use crate::effect::ReplayPlan;

/// What a letter is about.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeadLetterKind)]
pub enum Kind {
    /// The splitting of a job.
    Create,
    /// A chunk.
    Chunk,
    /// The completion of a job.
    Complete,
    /// Nobody knows: it is no message of its queue.
    Unreadable,
}

impl Kind {
    fn new(dead_letter: &DeadLetterMessage) -> Self {
        match dead_letter {
            DeadLetterMessage::Create(_) => Self::Create,
            DeadLetterMessage::Chunk(_) => Self::Chunk,
            DeadLetterMessage::Complete(_) => Self::Complete,
            DeadLetterMessage::Unreadable { .. } => Self::Unreadable,
        }
    }
}

/// What an operator has done about a letter.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeadLetterState)]
pub enum LetterState {
    /// Nothing yet.
    Open,
    /// Replayed.
    Replayed,
    /// Discarded.
    Discarded,
}

impl LetterState {
    fn new(dead_letter: &DeadLetterRecord) -> Self {
        match dead_letter.resolution.as_ref().map(|resolution| resolution.how) {
            None => Self::Open,
            Some(Settlement::Replayed) => Self::Replayed,
            Some(Settlement::Discarded) => Self::Discarded,
        }
    }
}

/// Paths of what can be done about a letter.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct DeadLetterLinks {
    /// The letter with its body; with `DELETE`, discards it.
    #[serde(rename = "self")]
    #[schema(format = "uri-reference")]
    pub itself: String,
    /// Replays it, by `POST`; `null` while that would do nothing.
    #[schema(format = "uri-reference", required = true)]
    pub replay: Option<String>,
}

/// A dead letter, without any row.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetter)]
pub struct DeadLetterDocument {
    /// Its id. Later letters sort behind.
    pub letter_id: String,
    /// The queue in which it died.
    pub queue: Queue,
    /// What it is about.
    pub kind: Kind,
    /// Why it is here.
    pub reason: String,
    /// The job; `null` if it is unreadable, as all that follows from it.
    #[schema(required = true)]
    pub job_id: Option<JobId>,
    /// Whose the job is; `null` if that is not known any more.
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// The job's status now; `null` if there is no such job any more.
    #[schema(required = true)]
    pub job_status: Option<Status>,
    /// The generation of the job that the letter is of: 0, and one more with each retry; `null` for a chunk, which its group tells.
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
    /// When the message was sent, in RFC 3339.
    #[schema(format = DateTime)]
    pub sent_at: String,
    /// When the sweeper first saw it among the dead letters, in RFC 3339.
    #[schema(format = DateTime)]
    pub seen_at: String,
    /// How often it had been received then.
    pub receives: u32,
    /// Bytes of its body.
    pub size_bytes: u64,
    /// What was done about it.
    pub state: LetterState,
    /// The operator who did it: the claim `sub`.
    #[schema(required = true)]
    pub settled_by: Option<String>,
    /// When, in RFC 3339.
    #[schema(format = DateTime, required = true)]
    pub settled_at: Option<String>,
    /// What a replay would do now.
    pub replay: Effect,
    /// Where to go from here.
    pub links: DeadLetterLinks,
}

impl DeadLetterDocument {
    /// The document of a letter as it stands.
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
            kind: Kind::new(&dead_letter.message),
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
            state: LetterState::new(dead_letter),
            settled_by: dead_letter.resolution.as_ref().map(|resolution| resolution.by.clone()),
            settled_at: dead_letter.resolution.as_ref().map(|resolution| resolution.at.to_rfc3339()),
            replay: effect,
            links: DeadLetterLinks { replay: can_be_replayed.then(|| format!("{path}/replay")), itself: path },
        }
    }
}

/// The path of a letter.
pub(crate) fn path(id: &str) -> String {
    format!("/api/dead-letters/{id}")
}

fn tenant(dead_letter: &DeadLetterRecord, job: Option<&Job>) -> Option<String> {
    match &dead_letter.message {
        DeadLetterMessage::Chunk(message) => Some(message.tenant.clone()),
        _ => job.map(|job| job.tenant.clone()),
    }
}

fn reason(dead_letter: &DeadLetterRecord) -> String {
    match &dead_letter.message {
        DeadLetterMessage::Create(_) => "the splitter of the job died or failed again and again".to_owned(),
        DeadLetterMessage::Chunk(_) => "the workers that tried the chunk died or failed again and again".to_owned(),
        DeadLetterMessage::Complete(_) => "the completion of the job died or failed again and again".to_owned(),
        DeadLetterMessage::Unreadable { reason } => format!("it cannot be read: {reason}"),
    }
}

/// A page of dead letters.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetters)]
pub struct DeadLettersDocument {
    /// The open letters, newest first.
    pub dead_letters: Vec<DeadLetterDocument>,
    /// For the next page; `null` on the last one.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A dead letter and what it says.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterContents)]
pub struct DeadLetterContents {
    /// The letter.
    pub dead_letter: DeadLetterDocument,
    /// The message as it was sent: of a chunk of few bytes with its rows. `null` if it went with its job, or is longer than
    /// 350 KiB.
    #[schema(required = true)]
    pub body: Option<String>,
}

/// Where to go after a replay.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct ReplayLinks {
    /// The job, for its tenant; `null` for an unreadable letter.
    #[schema(format = "uri-reference", required = true)]
    pub job: Option<String>,
}

/// What a replay did.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replay)]
pub struct ReplayDocument {
    /// The letters that are replayed: those that were asked for, and others about the same chunks.
    pub replayed: Vec<String>,
    /// Open letters of the job for which nothing could be done now.
    pub left: Vec<String>,
    /// What was done; `nothing` if it had been done before.
    pub effect: Effect,
    /// The job.
    #[schema(required = true)]
    pub job_id: Option<JobId>,
    /// Whose it is.
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// The job's generation, the one that was opened by this if one was.
    #[schema(required = true)]
    pub generation: Option<u32>,
    /// Where to go from here.
    pub links: ReplayLinks,
}
