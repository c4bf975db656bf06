//! `GET /api/datasets`: the datasets that a tenant's imports have written to, in pages.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::RecordStore;

use super::document::{DatasetDocument, DatasetsDocument};
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::parameters::DatasetsQuery;
use crate::openapi::refusals::ListRefusals;

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size: about 100 KB.
const MAX_LIMIT: usize = 1_000;

/// Returns a page of the tenant's datasets.
#[utoipa::path(
    get,
    path = "/api/datasets",
    operation_id = "listDatasets",
    tag = "records",
    summary = "List the datasets that imports have written to.",
    description = "Ordered by name. Every dataset with records is in the list.",
    params(DatasetsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = DatasetsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::datasets()),
        ),
        ListRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, query: QueryText) -> Answer {
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let after = paging::cursor(&query, &mut errors, position);
    Problem::check(errors)?;
    let page = api.records.datasets(&tenant.0, limit, after.as_deref()).await?;
    let next_cursor = page.next.as_deref().map(paging::encode_cursor);
    let link = |cursor: &str| paging::next_link("/api/datasets", &[("limit", &limit.to_string()), ("cursor", cursor)]);
    let link = next_cursor.as_deref().map(link);
    let datasets = page.items.into_iter().map(DatasetDocument::from).collect();
    Ok(paging::answer(DatasetsDocument { datasets, next_cursor }, link))
}

/// Decodes the name in a cursor; `None` if no page can have returned this cursor.
fn position(cursor: &str) -> Option<String> {
    paging::decode_cursor(cursor).filter(|name| Dataset::check_name(name).is_ok())
}
