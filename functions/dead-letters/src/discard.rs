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
use longshore_domain::dead_letter::{Resolution, Settlement};
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store};

use crate::DeadLetters;
use crate::openapi::{DeadLetterIdInPath, DiscardRefusals};

/// Returns 204: the dead letter is discarded, by this call or an earlier one.
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
    Operator(who): Operator,
    PathText(id): PathText,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    function.dead_letter(&id).await?;
    let resolution = Resolution { how: Settlement::Discarded, by: who.clone(), at: (function.clock)() };
    let dead_letter = function.ports.store.resolve(&id, &resolution).await?;
    match dead_letter.and_then(|dead_letter| dead_letter.resolution).map(|resolution| resolution.how) {
        None => Err(Problem::not_found("dead letter").into()),
        Some(Settlement::Replayed) => Err(replayed().into()),
        Some(Settlement::Discarded) => {
            tracing::info!(operator = who, dead_letter.id = id, "a dead letter is discarded");
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

fn replayed() -> Problem {
    Problem::new(Kind::LetterSettled, "the dead letter was replayed before, and is not in the list any more")
}
