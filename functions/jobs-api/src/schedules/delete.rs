//! `DELETE /api/schedules/{scheduleId}`: deletes a schedule. Its jobs stay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::http::{Answer, PathText, Tenant};
use longshore_domain::schedule::Schedule;

use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, ScheduleIdInPath};
use crate::openapi::refusals::DeleteScheduleRefusals;
use crate::resource;

/// Deletes a schedule: 204. A repeated call returns 404.
#[utoipa::path(
    delete,
    path = "/api/schedules/{scheduleId}",
    operation_id = "deleteSchedule",
    tag = "schedules",
    summary = "Delete a schedule.",
    description = "Its jobs stay.",
    params(ScheduleIdInPath, IfMatchHeader),
    responses((status = 204, description = "The schedule is deleted."), DeleteScheduleRefusals),
)]
pub(crate) async fn delete<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    resource::delete::<Schedule, _>(&api.ports.store, (&tenant, &id), &headers).await?;
    tracing::info!(schedule.id = id, %tenant, "a schedule was deleted");
    Ok(StatusCode::NO_CONTENT.into_response())
}
