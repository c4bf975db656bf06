//! `GET /api/schedules` and `GET /api/schedules/{scheduleId}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore_domain::ports::Schedules;
use longshore_domain::schedule::Schedule;

use super::change::answer;
use super::document::{ScheduleDocument, SchedulesDocument};
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::ScheduleIdInPath;
use crate::openapi::refusals::{ScheduleRefusals, SchedulesRefusals};
use crate::resource::find;

/// Returns all schedules of the tenant.
#[utoipa::path(
    get,
    path = "/api/schedules",
    operation_id = "listSchedules",
    tag = "schedules",
    summary = "List the schedules, oldest first.",
    responses(
        (
            status = 200,
            description = "All schedules of the tenant.",
            body = SchedulesDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::schedules()),
        ),
        SchedulesRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(api): State<Arc<Api<B>>>, Tenant(tenant): Tenant) -> Answer {
    let schedules = api.ports.store.schedules(&tenant).await?;
    let schedules = schedules.iter().map(ScheduleDocument::new).collect();
    Ok(no_store(SchedulesDocument { schedules }))
}

/// Returns a schedule.
#[utoipa::path(
    get,
    path = "/api/schedules/{scheduleId}",
    operation_id = "getSchedule",
    tag = "schedules",
    summary = "Read a schedule.",
    params(ScheduleIdInPath),
    responses(
        (
            status = 200,
            description = "The schedule.",
            body = ScheduleDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::schedule()),
        ),
        ScheduleRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
) -> Answer {
    Ok(answer(StatusCode::OK, &find::<Schedule, _>(&api.ports.store, &tenant, &id).await?))
}
