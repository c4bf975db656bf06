//! `GET /api/events`: a tenant's events, oldest first.
//!
//! The list ends some seconds before now. An event that enters it later has a later position than every event that was
//! read, so a client that continues at its cursor misses none.

use std::sync::Arc;

use axum::extract::State;
use longshore::events::EventDocument;
use longshore::http::{Answer, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::event::{EventPosition, EventsQuery, LISTED_AFTER_S};
use longshore_domain::ports::Events;
use longshore_domain::timestamp::Timestamp;

use super::document::EventsDocument;
use crate::backend::{Api, Backend};
use crate::openapi::refusals::ListRefusals;
use crate::openapi::{examples, parameters};

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size: one page of a Query holds 1 MB, so events with much metadata make a shorter page.
const MAX_LIMIT: usize = 500;

/// Returns a page of the tenant's events.
#[utoipa::path(
    get,
    path = "/api/events",
    operation_id = "listEvents",
    tag = "events",
    summary = "List what has happened to jobs, oldest first.",
    description = include_str!("list.md").trim_ascii_end(),
    params(parameters::EventsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = EventsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on an empty one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::events()),
        ),
        ListRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, query: QueryText) -> Answer {
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let cursor = query.get("cursor");
    let after = paging::cursor(&query, &mut errors, position);
    Problem::check(errors)?;
    let before = (api.clock)().plus_seconds(-LISTED_AFTER_S);
    let query = EventsQuery { tenant: &tenant.0, after: after.as_ref(), before, limit };
    let page = api.ports.store.events(&query).await?;
    let last = page.last().map(|listed| encode(&listed.position));
    let link = last
        .as_deref()
        .map(|cursor| paging::next_link("/api/events", &[("limit", &limit.to_string()), ("cursor", cursor)]));
    let next_cursor = last.or_else(|| cursor.map(str::to_owned));
    let events = page.iter().map(|listed| EventDocument::new(&listed.event)).collect();
    Ok(paging::answer(EventsDocument { events, next_cursor }, link))
}

/// Encodes a position as a cursor. It contains no tenant: in another tenant's list, it is only a point in time.
fn encode(position: &EventPosition) -> String {
    paging::encode_cursor(&format!("{}.{}.{}", position.moved_at.0, position.version, position.id))
}

fn position(cursor: &str) -> Option<EventPosition> {
    let position = paging::decode_cursor(cursor)?;
    let (moved_at, position) = position.split_once('.')?;
    let (version, id) = position.split_once('.')?;
    let moved_at = moved_at.parse().ok().filter(|millis| (0..1_000_000_000_000_000).contains(millis))?;
    let is_id =
        (1..=256).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_');
    let version = version.parse().ok()?;
    is_id.then(|| EventPosition { moved_at: Timestamp(moved_at), version, id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_decoded_and_an_invalid_one_is_refused() {
        let last = EventPosition { moved_at: Timestamp(1_700_000_000_000), version: 2, id: "a-0-completed".into() };
        assert_eq!(position(&encode(&last)), Some(last));
        for bad in
            ["", "?", "1", "1.1", "1.1.", "-1.1.a", "x.1.a", "1.-1.a", "1.1.a#b", "1.1.\u{fc}", "1000000000000000.1.a"]
        {
            assert_eq!(position(&paging::encode_cursor(bad)), None, "{bad}");
        }
        assert_eq!(position("?"), None);
    }
}
