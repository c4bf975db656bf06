//! `PUT /api/schedules/{scheduleId}`: changes a schedule.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use longshore::http::{Answer, JsonFields, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore::problem::Problem;
use longshore_domain::schedule::{Schedule, Timing};
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::next_after;

use super::change::answer;
use super::document::ScheduleDocument;
use super::examples;
use super::request::{self, BODY_BYTES, ScheduleContent, ScheduleRequest, time_has_passed};
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, ScheduleIdInPath};
use crate::openapi::refusals::PutScheduleRefusals;
use crate::resource::{change, find};

/// Changes a schedule: 200.
#[utoipa::path(
    put,
    path = "/api/schedules/{scheduleId}",
    operation_id = "putSchedule",
    tag = "schedules",
    summary = "Change a schedule.",
    description = "Replaces all fields; a field that is absent gets its default. Times that pass while a schedule is \
        paused have no occurrence. A call with `paused: true` and the `job` of the response is accepted even if that job is \
        no longer valid, for example because its job type was deleted; any other call validates the job.",
    params(ScheduleIdInPath, IfMatchHeader),
    request_body(content = ScheduleRequest, description = "Up to 32 KiB.", example = json!(examples::request())),
    responses(
        (
            status = 200,
            description = "The schedule after the change.",
            body = ScheduleDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::schedule()),
        ),
        PutScheduleRefusals,
    ),
)]
pub(crate) async fn put<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant.0, now).await?;
    let stored = find::<Schedule, _>(store, &tenant.0, &id).await?;
    let content = request::read(&api, &tenant, fields, (Some(&stored), now)).await?;
    // The time of the write: the request may have taken seconds, in which an occurrence was fired.
    let apply = |schedule| apply(schedule, &content, (api.clock)());
    let changed = change(store, (&tenant.0, &id), &headers, apply).await?;
    tracing::info!(schedule.id = %changed.schedule_id, tenant = %tenant.0, "a schedule was changed");
    Ok(answer(StatusCode::OK, &changed))
}

fn apply(schedule: Schedule, content: &ScheduleContent, now: Timestamp) -> Result<Schedule, Problem> {
    let (was_paused, timing) = (schedule.paused, continued(&schedule.timing, &content.timing));
    let is_other_timing = schedule.timing != timing;
    let due = schedule.due().filter(|due| *due <= now);
    let mut changed = schedule.changed(|schedule| {
        schedule.name.clone_from(&content.name);
        schedule.timing = timing;
        schedule.overlap = content.overlap;
        schedule.paused = content.paused;
        schedule.job = content.job.clone();
    });
    // An occurrence that is due stays due, and no time has two.
    if is_other_timing || was_paused {
        let after = changed.last_at.map_or(now, |last_at| last_at.max(now));
        let next_at = next_after(&changed, after).ok().flatten();
        if is_other_timing && next_at.is_none() {
            return Err(time_has_passed());
        }
        changed.next_at = due.or(next_at);
    }
    Ok(changed)
}

/// Returns a timing of a request; one with the period of the stored timing counts from its time.
fn continued(stored: &Timing, requested: &Timing) -> Timing {
    match (stored, requested) {
        (Timing::Every { minutes, .. }, Timing::Every { minutes: same, .. }) if minutes == same => stored.clone(),
        _ => requested.clone(),
    }
}
