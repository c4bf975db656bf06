//! `DELETE /api/dead-letters/{letterId}`: discards a dead letter.
//!
//! One conditional write records the resolution; the sweeper deletes the message from its queue. The job's result does
//! not change.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use longshore::http::{Answer, Operator, PathText};
use longshore::problem::{Kind, Problem};
use longshore_domain::dead_letter::{Resolution, ResolutionKind};
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store};

use crate::DeadLetters;
use crate::function::find_dead_letter;
use crate::openapi::{DeadLetterIdInPath, DiscardRefusals};

/// Discards a dead letter: 204, also if an earlier call discarded it.
#[utoipa::path(
    delete,
    path = "/api/dead-letters/{letterId}",
    operation_id = "discardDeadLetter",
    tag = "dead letters",
    summary = "Discard a dead letter.",
    description = include_str!("discard.md").trim_ascii_end(),
    params(DeadLetterIdInPath),
    responses((status = 204, description = "The dead letter is discarded."), DiscardRefusals),
)]
pub(crate) async fn discard<S, Q>(
    State(function): State<Arc<DeadLetters<S, Q>>>,
    Operator(operator): Operator,
    PathText(id): PathText,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let (store, now) = (&function.ports.store, (function.clock)());
    find_dead_letter(store, &id, now).await?;
    let resolution = Resolution { kind: ResolutionKind::Discarded, by: operator.clone(), at: now };
    let dead_letter = store.resolve(&id, &resolution).await?;
    match dead_letter.and_then(|dead_letter| dead_letter.resolution).map(|resolution| resolution.kind) {
        None => Err(Problem::not_found("dead letter").into()),
        Some(ResolutionKind::Replayed) => Err(replayed().into()),
        Some(ResolutionKind::Discarded) => {
            tracing::info!(operator, dead_letter.id = id, "a dead letter was discarded");
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

fn replayed() -> Problem {
    Problem::new(Kind::LetterSettled, "the dead letter has already been replayed")
}
