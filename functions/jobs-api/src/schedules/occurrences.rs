//! `GET /api/schedules/{scheduleId}/occurrences`: the occurrences of a schedule, newest first.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::ports::{OccurrencesQuery, Schedules};
use longshore_domain::schedule::{OccurrenceId, Schedule};

use super::document::{OccurrenceDocument, OccurrencesDocument};
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{self, ScheduleIdInPath};
use crate::openapi::refusals::OccurrencesRefusals;
use crate::resource::find;

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size.
const MAX_LIMIT: usize = 100;

/// Returns a page of a schedule's occurrences.
#[utoipa::path(
    get,
    path = "/api/schedules/{scheduleId}/occurrences",
    operation_id = "listOccurrences",
    tag = "schedules",
    summary = "List the occurrences of a schedule, newest first.",
    description = "Each has made one job, or has the reason why it made none. They are kept for 30 days.",
    params(ScheduleIdInPath, parameters::OccurrencesQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = OccurrencesDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::occurrences()),
        ),
        OccurrencesRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    query: QueryText,
) -> Answer {
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let before = paging::cursor(&query, &mut errors, |cursor| OccurrenceId::parse(&paging::decode_cursor(cursor)?));
    Problem::check(errors)?;
    let store = &api.ports.store;
    let schedule_id = find::<Schedule, _>(store, &tenant, &id).await?.schedule_id;
    let query = OccurrencesQuery { tenant: &tenant, schedule_id, before: before.as_ref(), limit };
    let page = store.occurrences(&query).await?;
    let last = page.last().filter(|_| page.len() == limit);
    let next_cursor = last.map(|last| paging::encode_cursor(last.id().as_str()));
    let link = next_cursor.as_deref().map(|cursor| {
        let path = format!("/api/schedules/{schedule_id}/occurrences");
        paging::next_link(&path, &[("limit", &limit.to_string()), ("cursor", cursor)])
    });
    let occurrences = page.iter().map(OccurrenceDocument::new).collect();
    Ok(paging::answer(OccurrencesDocument { occurrences, next_cursor }, link))
}
