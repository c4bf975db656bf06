//! `GET /api/operations/handlers`: registered job types with their circuit breakers and permits.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, QueryText, Viewer, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore::refusals;
use longshore::waiting::{PARKED, TypeState};
use longshore_domain::ports::{HandlerStates, JobTypes, ParkedChunks, Permits, PortResult};
use longshore_domain::registration::{RegistrationStatus, StoredRegistration, TypeName};
use longshore_domain::remote::breaker::OpenReason;
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::function::{Backend, Operations};

const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: three queries for each handler.
const MAX_LIMIT: usize = 50;

/// Number of handlers whose states are read concurrently.
const CONCURRENT_READS: usize = 8;

/// State of a circuit breaker.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BreakerState)]
pub enum BreakerState {
    /// Calls are made.
    Closed,
    /// The handler does not answer its pings: no call is made.
    Unreachable,
    /// The handler answers its pings, and batches of several chunks failed in a row: no call is made.
    BatchesFail,
}

/// A circuit breaker.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Breaker)]
pub struct BreakerDocument {
    /// Its state.
    pub state: BreakerState,
    /// Time at which it opened, in RFC 3339; `null` while it is closed.
    #[schema(required = true, format = DateTime)]
    pub open_since: Option<String>,
    /// Time of the next trial; `null` while it is closed.
    #[schema(required = true, format = DateTime)]
    pub next_try: Option<String>,
    /// Time of the first fault since the last answer; `null` if there was none.
    #[schema(required = true, format = DateTime)]
    pub unanswered_since: Option<String>,
}

/// A registered job type, and the state that its workers share.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorHandler)]
pub struct HandlerDocument {
    /// Name of the job type.
    pub name: String,
    /// Status of its registration.
    pub status: RegistrationStatus,
    /// Its circuit breaker.
    pub breaker: BreakerDocument,
    /// Permits that are held: calls that are made now, or whose worker has died a moment ago.
    pub permits_in_use: u32,
    /// Maximum number of calls at a time, as registered; `null` if no registration is active.
    #[schema(required = true)]
    pub concurrency: Option<u32>,
    /// Maximum number of calls at a time at present: lowered while the handler asks for fewer calls.
    #[schema(required = true)]
    pub concurrency_now: Option<u32>,
    /// Rate limit in items per second; `null` if there is none.
    #[schema(required = true)]
    pub items_per_second: Option<f64>,
    /// Number of parked chunks, up to 40.
    #[schema(maximum = 40)]
    pub parked_chunks: u32,
    /// `true` if more chunks may be parked.
    pub has_more_parked_chunks: bool,
}

/// A page of handlers.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorHandlers)]
pub struct HandlersDocument {
    /// The handlers, in the order of their names.
    pub handlers: Vec<HandlerDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Query parameters of `GET /api/operations/handlers`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct HandlersQuery {
    /// Maximum number of handlers on the page.
    #[param(required = false, minimum = 1, maximum = 50, default = 20)]
    limit: usize,
}

refusals!(
    /// Refusals of `GET /api/operations/handlers`.
    operator HandlersRefusals: MalformedQuery, InvalidRequest
);

/// Returns a page of handlers.
#[utoipa::path(
    get,
    path = "/api/operations/handlers",
    operation_id = "listHandlers",
    tag = "operations",
    summary = "List the handlers of registered job types, with breakers and permits.",
    description = include_str!("list.md").trim_ascii_end(),
    params(HandlersQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = HandlersDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(handlers_example()),
        ),
        HandlersRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    _: Viewer,
    query: QueryText,
) -> Answer {
    let (store, now) = (&function.ports.store, (function.clock)());
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let after = paging::cursor(&query, &mut errors, |cursor| TypeName::parse(&paging::decode_cursor(cursor)?).ok());
    Problem::check(errors)?;
    let page = store.job_types(after.as_ref(), limit).await?;
    let read = stream::iter(page.items).map(|stored| Box::pin(read(store, stored, now))).buffered(CONCURRENT_READS);
    let handlers: Vec<Option<HandlerDocument>> = read.try_collect().await?;
    let next_cursor = page.next.as_deref().map(paging::encode_cursor);
    let link = next_cursor.as_ref().map(|cursor| {
        paging::next_link("/api/operations/handlers", &[("limit", &limit.to_string()), ("cursor", cursor)])
    });
    Ok(paging::answer(HandlersDocument { handlers: handlers.into_iter().flatten().collect(), next_cursor }, link))
}

/// Returns the document of a job type; `None` if it has neither a registration nor a candidate.
async fn read(
    store: &(impl HandlerStates + Permits + ParkedChunks),
    stored: StoredRegistration,
    now: Timestamp,
) -> PortResult<Option<HandlerDocument>> {
    let Some(name) = stored.shown().map(|registration| registration.name.to_string()) else { return Ok(None) };
    let state = TypeState::read(store, &name).await?;
    Ok(Some(document(name, &stored, &state, now)))
}

fn document(name: String, stored: &StoredRegistration, state: &TypeState, now: Timestamp) -> HandlerDocument {
    let active = stored.active.as_ref().map(|active| &active.registration);
    let (breaker, handler) = (&state.handler.state.breaker, &state.handler.state);
    let open = breaker.open();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    HandlerDocument {
        name,
        status: stored.status(),
        breaker: BreakerDocument {
            state: match open.map(|open| open.reason) {
                None => BreakerState::Closed,
                Some(OpenReason::Unreachable) => BreakerState::Unreachable,
                Some(OpenReason::BatchesFail) => BreakerState::BatchesFail,
            },
            open_since: open.map(|open| open.since.to_rfc3339()),
            next_try: open.map(|open| open.trial_at.to_rfc3339()),
            unanswered_since: breaker.unanswered_since().map(Timestamp::to_rfc3339),
        },
        permits_in_use: count(state.permits.iter().filter(|permit| permit.until >= now).count()),
        concurrency: active.map(|active| active.concurrency),
        concurrency_now: active.map(|active| handler.concurrency.now(active.concurrency, now)),
        items_per_second: active.and_then(|active| active.items_per_second),
        parked_chunks: count(state.parked.len()),
        has_more_parked_chunks: state.parked.len() == PARKED,
    }
}

/// Example: a handler that does not answer.
fn handlers_example() -> HandlersDocument {
    let handler = HandlerDocument {
        name: "invite".to_owned(),
        status: RegistrationStatus::Active,
        breaker: BreakerDocument {
            state: BreakerState::Unreachable,
            open_since: Some("2026-07-01T09:10:00Z".to_owned()),
            next_try: Some("2026-07-01T09:20:00Z".to_owned()),
            unanswered_since: Some("2026-07-01T09:09:52Z".to_owned()),
        },
        permits_in_use: 0,
        concurrency: Some(10),
        concurrency_now: Some(10),
        items_per_second: Some(50.0),
        parked_chunks: 17,
        has_more_parked_chunks: false,
    };
    HandlersDocument { handlers: vec![handler], next_cursor: None }
}
