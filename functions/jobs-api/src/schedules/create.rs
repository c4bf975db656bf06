//! `POST /api/schedules`: creates a schedule.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use longshore::http::{Answer, JsonFields, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore::problem::{Kind, Problem};
use longshore_domain::ids::ScheduleId;
use longshore_domain::ports::{ConditionalWrite, Schedules};
use longshore_domain::schedule::{MAX_SCHEDULES, Schedule};
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::next_after;

use super::change::answer;
use super::document::ScheduleDocument;
use super::examples;
use super::request::{self, BODY_BYTES, ScheduleContent, ScheduleRequest, time_has_passed};
use crate::backend::{Api, Backend};
use crate::openapi::refusals::CreateScheduleRefusals;
use crate::resource::{ATTEMPTS, overtaken};

/// Creates a schedule: 201.
#[utoipa::path(
    post,
    path = "/api/schedules",
    operation_id = "createSchedule",
    tag = "schedules",
    summary = "Create a schedule.",
    description = include_str!("create.md").trim_ascii_end(),
    request_body(content = ScheduleRequest, description = "Up to 32 KiB.", example = json!(examples::request())),
    responses(
        (
            status = 201,
            description = "The schedule, with its next times.",
            body = ScheduleDocument,
            headers(
                ("Location" = String, description = "Path of the schedule."),
                ("ETag" = inline(EntityTag)),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::schedule()),
        ),
        CreateScheduleRefusals,
    ),
)]
pub(crate) async fn create<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant.0, now).await?;
    let content = request::read(&api, &tenant, fields, (None, now)).await?;
    let mut schedule = new_schedule(tenant, content, now)?;
    for _ in 0..ATTEMPTS {
        let taken = store.schedules(&schedule.tenant).await?;
        let is_free = |place: &u8| taken.iter().all(|other| other.place != *place);
        schedule.place = (0..MAX_SCHEDULES as u8).find(is_free).ok_or_else(too_many)?;
        if store.put_schedule(&schedule, None).await? == ConditionalWrite::Stored {
            tracing::info!(schedule.id = %schedule.schedule_id, tenant = %schedule.tenant, "a schedule was created");
            let location = AppendHeaders([(header::LOCATION, format!("/api/schedules/{}", schedule.schedule_id))]);
            return Ok((location, answer(StatusCode::CREATED, &schedule)).into_response());
        }
    }
    Err(overtaken("schedule").into())
}

fn new_schedule(
    Tenant(tenant): Tenant,
    ScheduleContent { name, timing, overlap, paused, job }: ScheduleContent,
    now: Timestamp,
) -> Result<Schedule, Problem> {
    let mut schedule = Schedule {
        schedule_id: ScheduleId::generate(),
        tenant,
        place: 0,
        name,
        timing,
        overlap,
        paused,
        job,
        next_at: None,
        last_at: None,
        last_job: None,
        created_at: now,
        revision: 0,
    };
    schedule.next_at = Some(next_after(&schedule, now).ok().flatten().ok_or_else(time_has_passed)?);
    Ok(schedule)
}

fn too_many() -> Problem {
    Problem::new(
        Kind::TooManySchedules,
        format!("the tenant has {MAX_SCHEDULES} schedules, the maximum; delete one that is not needed"),
    )
}
