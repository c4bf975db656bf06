//! `GET /api/dead-letters/{letterId}`: one dead letter with its body. The only call that returns rows of other tenants:
//! the read of an operator, who sees them, is in the operators' log.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Failure, PathText, Viewer, no_store};
use longshore::openapi::CacheNoStore;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::operator_log::{ActionScope, OperatorAction};
use longshore_domain::ports::{DeadLetterRecords, Store};
use longshore_domain::timestamp::Timestamp;

use super::document::{DeadLetterContents, DeadLetterDocument};
use super::find::find_dead_letter;
use super::openapi::{DeadLetterIdInPath, ShowRefusals, contents_example};
use super::replay_plan::replay_plan;
use crate::function::{Backend, Operations};
use crate::log::audited::{ActionSummary, AuditedAction};

/// Returns a dead letter in its current state, with its body.
#[utoipa::path(
    get,
    path = "/api/dead-letters/{letterId}",
    operation_id = "getDeadLetter",
    tag = "dead letters",
    summary = "Read a dead letter with its body.",
    description = "For operators; a read-only operator gets no body. A resolved dead letter is kept for 14 days, with the \
        operator who resolved it. A call that can return rows is in the operators' log.",
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
pub(crate) async fn show<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    viewer: Viewer,
    PathText(id): PathText,
) -> Answer {
    let (store, now) = (&function.ports.store, (function.clock)());
    let dead_letter = find_dead_letter(store, &id, now).await?;
    let read = read(store, &dead_letter, (&viewer, now));
    let contents = if viewer.sees_rows {
        let action = AuditedAction {
            action: OperatorAction::ReadDeadLetter,
            scope: ActionScope {
                letter_id: Some(id),
                job_ids: dead_letter.message.job_id().into_iter().collect(),
                ..ActionScope::default()
            },
            reason: None,
        };
        action.run(&*function, &viewer.operator, read).await?
    } else {
        read.await?
    };
    tracing::info!(operator = viewer.operator.id, dead_letter.id = dead_letter.id, "a dead letter was read");
    Ok(no_store(contents))
}

/// Reads a dead letter as this caller may see it.
async fn read(
    store: &(impl Store + DeadLetterRecords),
    dead_letter: &DeadLetterRecord,
    (viewer, now): (&Viewer, Timestamp),
) -> Result<DeadLetterContents, Failure> {
    let replay_plan = replay_plan(store, dead_letter, now).await?;
    let body = if viewer.sees_rows { store.body(dead_letter).await? } else { None };
    let dead_letter = DeadLetterDocument::new(dead_letter, &replay_plan).for_viewer(viewer);
    Ok(DeadLetterContents { dead_letter, body })
}

impl ActionSummary for DeadLetterContents {
    const STATUS: u16 = 200;

    fn detail(&self) -> String {
        let body = if self.body.is_some() { "with its body" } else { "which has no body" };
        format!("the dead letter was read, {body}")
    }
}
