//! `GET /api/webhooks/{webhookId}/deliveries`: the deliveries of a webhook, newest first.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::ports::{DeliveriesFrom, DeliveriesQuery, Webhooks};
use longshore_domain::webhook::{DeliveryId, Endpoint};

use super::document::{DeliveriesDocument, DeliveryDocument};
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{self, WebhookIdInPath};
use crate::openapi::refusals::DeliveriesRefusals;
use crate::resource::find;

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size.
const MAX_LIMIT: usize = 100;

/// Returns a page of a webhook's deliveries.
#[utoipa::path(
    get,
    path = "/api/webhooks/{webhookId}/deliveries",
    operation_id = "listDeliveries",
    tag = "webhooks",
    summary = "List the deliveries of a webhook, newest first.",
    description = "Deliveries are kept as long as their job, at least four and at most 30 days. The log has the status of an answer, \
        never its content.",
    params(WebhookIdInPath, parameters::DeliveriesQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = DeliveriesDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::deliveries()),
        ),
        DeliveriesRefusals,
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
    let before = paging::cursor(&query, &mut errors, |cursor| DeliveryId::parse(&paging::decode_cursor(cursor)?));
    Problem::check(errors)?;
    let store = &api.ports.store;
    let endpoint = find::<Endpoint, _>(store, &tenant, &id).await?;
    let (endpoint_id, from) = (endpoint.endpoint_id, DeliveriesFrom::Before(before.as_ref()));
    let page = store.deliveries_of(&DeliveriesQuery { tenant: &tenant, endpoint_id, from, limit }).await?;
    let last = page.last().filter(|_| page.len() == limit);
    let next_cursor = last.map(|last| paging::encode_cursor(last.id().as_str()));
    let link = next_cursor.as_deref().map(|cursor| {
        let path = format!("/api/webhooks/{endpoint_id}/deliveries");
        paging::next_link(&path, &[("limit", &limit.to_string()), ("cursor", cursor)])
    });
    let deliveries = page.iter().map(DeliveryDocument::new).collect();
    Ok(paging::answer(DeliveriesDocument { deliveries, next_cursor }, link))
}
