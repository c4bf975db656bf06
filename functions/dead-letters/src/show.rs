//! `GET /api/dead-letters/{letterId}`: one dead letter with its body. The only call that returns rows of other tenants;
//! it logs the operator and the dead letter's id.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, Operator, PathText};
use longshore::openapi::CacheNoStore;
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store};

use crate::function::find_dead_letter;
use crate::openapi::{DeadLetterIdInPath, ShowRefusals, contents_example};
use crate::replay_plan::replay_plan;
use crate::{DeadLetterContents, DeadLetterDocument, DeadLetters};

/// Returns a dead letter in its current state, with its body.
#[utoipa::path(
    get,
    path = "/api/dead-letters/{letterId}",
    operation_id = "getDeadLetter",
    tag = "dead letters",
    summary = "Read a dead letter with its body.",
    description = "For operators. A resolved dead letter is kept for 14 days, with the operator who resolved it.",
    params(DeadLetterIdInPath),
    responses(
        (
            status = 200,
            description = "The dead letter.",
            body = DeadLetterContents,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(contents_example()),
        ),
        ShowRefusals,
    ),
)]
pub(crate) async fn show<S, Q>(
    State(function): State<Arc<DeadLetters<S, Q>>>,
    Operator(operator): Operator,
    PathText(id): PathText,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let (store, now) = (&function.ports.store, (function.clock)());
    let dead_letter = find_dead_letter(store, &id, now).await?;
    let replay_plan = replay_plan(store, &dead_letter, now).await?;
    let body = store.body(&dead_letter).await?;
    tracing::info!(operator, dead_letter.id = dead_letter.id, "a dead letter was read");
    let document = DeadLetterContents { dead_letter: DeadLetterDocument::new(&dead_letter, &replay_plan), body };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}
