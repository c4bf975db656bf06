//! The schedule as a resource, and the response with it.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore_domain::ids::ScheduleId;
use longshore_domain::ports::{ConditionalWrite, PortResult, Schedules};
use longshore_domain::schedule::Schedule;
use longshore_domain::tenant::TenantId;

use super::document::ScheduleDocument;
use crate::etag;
use crate::resource::Resource;

impl<S: Schedules> Resource<S> for Schedule {
    const NAME: &'static str = "schedule";

    async fn read(store: &S, tenant: &TenantId, id: &str) -> PortResult<Option<Self>> {
        let Some(id) = ScheduleId::parse(id) else { return Ok(None) };
        Ok(store.schedules(tenant).await?.into_iter().find(|schedule| schedule.schedule_id == id))
    }

    async fn put(&self, store: &S, read: &Self) -> PortResult<ConditionalWrite> {
        store.put_schedule(self, Some(read)).await
    }

    async fn remove(&self, store: &S) -> PortResult<ConditionalWrite> {
        store.delete_schedule(self).await
    }

    fn tag(&self) -> String {
        tag(self)
    }
}

/// Returns the tag of what a change replaces. An occurrence leaves it.
fn tag(schedule: &Schedule) -> String {
    let Schedule { name, timing, overlap, paused, job, .. } = schedule;
    // Texts and numbers always serialize.
    etag::for_bytes(&serde_json::to_vec(&(name, timing, overlap, paused, &job.request)).unwrap_or_default())
}

/// Responds with a schedule.
pub(super) fn answer(status: StatusCode, schedule: &Schedule) -> Response {
    let about = AppendHeaders([(header::CACHE_CONTROL, "no-store".to_owned()), (header::ETAG, tag(schedule))]);
    (status, about, Json(ScheduleDocument::new(schedule))).into_response()
}
