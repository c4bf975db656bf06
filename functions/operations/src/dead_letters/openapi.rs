//! OpenAPI metadata of this function's calls: parameters, refusals and examples. `shared/src/openapi` assembles the
//! document.

use longshore::refusals;
use longshore_domain::dead_letter::Queue;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use utoipa::IntoParams;

use super::document::{
    DeadLetterContents, DeadLetterDocument, DeadLetterKind, DeadLetterLinks, DeadLetterState, DeadLettersDocument,
    ReplayDocument, ReplayLinks, path,
};
use super::replay_plan::Effect;

/// Path parameter that identifies a dead letter.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DeadLetterIdInPath {
    /// Id of the dead letter, as returned by the list.
    #[param(rename = "letterId", pattern = "^[A-Za-z0-9-]+$", example = "1782896400120-8f1d2c3b")]
    #[allow(dead_code, reason = "for the schema only")]
    letter_id: String,
}

/// Query parameters of `GET /api/dead-letters`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct DeadLettersQuery {
    /// Return only dead letters from this queue.
    #[param(required = false)]
    queue: Queue,
    /// Return only dead letters of this job.
    #[param(rename = "jobId", required = false, format = "uuid", value_type = String)]
    job_id: String,
    /// Maximum number of dead letters on the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

refusals!(
    /// Refusals of `GET /api/dead-letters`.
    operator ListRefusals: MalformedQuery, InvalidRequest
);
refusals!(
    /// Refusals of `GET /api/dead-letters/{letterId}`.
    operator ShowRefusals: NotFound
);
refusals!(
    /// Refusals of `DELETE /api/dead-letters/{letterId}`.
    operator DiscardRefusals: MalformedQuery, NotFound, LetterSettled, InvalidRequest
);
refusals!(
    /// Refusals of `POST /api/dead-letters/{letterId}/replay`.
    operator ReplayRefusals: MalformedQuery, NotFound, LetterSettled, NotEnded, NothingToReplay, InvalidRequest, TooManyJobs
);
refusals!(
    /// Refusals of `POST /api/dead-letters/replay`.
    operator ReplayJobRefusals: MalformedJson, NotFound, NotEnded, NothingToReplay, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest, TooManyJobs
);

const ID: &str = "1782896400120-8f1d2c3b-5a49-4c1e-9f70-6d2b8e1a0c57";

fn job() -> JobId {
    JobId::parse("019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e").unwrap_or_else(JobId::generate)
}

fn dead_letter() -> DeadLetterDocument {
    DeadLetterDocument {
        letter_id: ID.to_owned(),
        queue: Queue::Chunk,
        kind: DeadLetterKind::Chunk,
        reason: "every worker that processed the chunk crashed or failed".to_owned(),
        job_id: Some(job()),
        tenant: Some("acme".to_owned()),
        job_status: Some(Status::Completed),
        generation: None,
        group: Some(2),
        chunk: Some(5),
        first_item: Some(12_001),
        item_count: Some(1_000),
        sent_at: "2026-07-01T09:00:00.12Z".to_owned(),
        seen_at: "2026-07-01T10:01:00.3Z".to_owned(),
        receives: 6,
        size_bytes: 412,
        state: DeadLetterState::Open,
        settled_by: None,
        settled_at: None,
        replay: Effect::Generation,
        links: DeadLetterLinks { itself: path(ID), replay: Some(format!("{}/replay", path(ID))) },
    }
}

/// Example: a page of one dead letter.
pub(crate) fn dead_letters_example() -> DeadLettersDocument {
    DeadLettersDocument { dead_letters: vec![dead_letter()], next_cursor: None }
}

/// Example: a dead letter with its body.
pub(crate) fn contents_example() -> DeadLetterContents {
    let body = format!(
        r#"{{"jobId":"{}","tenant":"acme","group":2,"chunk":5,"plan":{{"first":12001,"items":1000,"start":480012,"end":519733}}}}"#,
        job()
    );
    DeadLetterContents { dead_letter: dead_letter(), body: Some(body) }
}

/// Example: a job that was reopened for a dead letter.
pub(crate) fn replay_example() -> ReplayDocument {
    ReplayDocument {
        replayed: vec![ID.to_owned()],
        left: Vec::new(),
        effect: Effect::Generation,
        job_id: Some(job()),
        tenant: Some("acme".to_owned()),
        generation: Some(1),
        links: ReplayLinks { job: Some(format!("/api/jobs/{}", job())) },
    }
}
