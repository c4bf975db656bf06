//! `DELETE /api/operations/pauses/{pauseId}`: ends a pause.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use longshore::field_error::FieldError;
use longshore::http::{Answer, Operator, PathText, QueryText};
use longshore::problem::{Kind, Problem};
use longshore::refusals;
use longshore_domain::ids::PauseId;
use longshore_domain::operator_log::{LogEntry, LoggedAction, OperatorAction};
use longshore_domain::ports::{OperatorLog, PauseRecords, Pauses, PortResult};
use utoipa::IntoParams;

use super::create::logged_scope;
use crate::function::{Backend, Operations};
use crate::log::audited::{ActionSummary, AuditedAction};
use crate::log::reason::{RequiredReasonQuery, reason_in};

/// Path parameter that identifies a pause.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct PauseIdInPath {
    /// Id of the pause, as returned by the list.
    #[param(rename = "pauseId", format = "uuid", value_type = String)]
    #[allow(dead_code, reason = "for the schema only")]
    pause_id: String,
}

refusals!(
    /// Refusals of `DELETE /api/operations/pauses/{pauseId}`.
    operator EndPauseRefusals: MalformedQuery, NotFound, InvalidRequest
);

/// Number of actions among which an earlier end of the pause is looked for.
const LOGGED_ACTIONS: usize = 50;

/// A pause has ended.
struct Resumed;

impl ActionSummary for Resumed {
    const STATUS: u16 = 204;

    fn detail(&self) -> String {
        "the pause was ended".to_owned()
    }
}

/// Ends a pause: 204, also if an earlier call has ended it.
#[utoipa::path(
    delete,
    path = "/api/operations/pauses/{pauseId}",
    operation_id = "endPause",
    tag = "operations",
    summary = "End a pause.",
    description = include_str!("end.md").trim_ascii_end(),
    params(PauseIdInPath, RequiredReasonQuery),
    responses((status = 204, description = "The pause has ended."), EndPauseRefusals),
)]
pub(crate) async fn end<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    PathText(id): PathText,
    query: QueryText,
) -> Answer {
    let missing = || Problem::invalid(vec![FieldError::new("/reason", "required", "reason is required")]);
    let reason = reason_in(&query)?.ok_or_else(missing)?;
    let (store, id, now) = (&function.ports.store, PauseId::parse(&id).ok_or_else(not_in_force)?, (function.clock)());
    let pause = store.pauses().await?.into_iter().find(|pause| pause.id == id && pause.is_in_force(now));
    let Some(pause) = pause else {
        return if was_ended(&function.log, id).await? {
            Ok(StatusCode::NO_CONTENT.into_response())
        } else {
            Err(not_in_force().into())
        };
    };
    let action = AuditedAction { action: OperatorAction::Resume, scope: logged_scope(&pause), reason: Some(reason) };
    let end = async {
        store.end_pause(&pause).await?;
        Ok(Resumed)
    };
    action.run(&*function, &operator, end).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Returns true if the log has an end of this pause: the call is a repetition whose first answer was lost.
async fn was_ended(log: &impl OperatorLog, id: PauseId) -> PortResult<bool> {
    let recent = log.logged_actions(None, LOGGED_ACTIONS).await?.items;
    let ends = |entry: &LogEntry| entry.action == OperatorAction::Resume && entry.scope.pause_id == Some(id);
    Ok(recent.iter().any(|LoggedAction { entry, .. }| ends(entry)))
}

fn not_in_force() -> Problem {
    Problem::new(Kind::NotFound, "no pause with this id is in force; the list of pauses has the ids")
}
