//! `GET /api/job-types`: the registered job types, in pages.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Operator, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::ports::JobTypes;
use longshore_domain::registration::TypeName;

use super::document::{JobTypeDocument, JobTypesDocument, Reader};
use super::examples;
use super::own::{self, Listed};
use crate::backend::{Api, Backend};
use crate::openapi::parameters::JobTypesQuery;
use crate::openapi::refusals::ListRefusals;

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: at most 2.5 MB, if every job type has three schemas of 16 KiB.
const MAX_LIMIT: usize = 50;

/// Returns a page of the job types.
#[utoipa::path(
    get,
    path = "/api/job-types",
    operation_id = "listJobTypes",
    tag = "job types",
    summary = "List the registered job types.",
    description = "Ordered by name. Job types in Rust are not in the list; `image` is, if the deployment offers it. The \
        target and the reason of a refusal are for operators only.",
    params(JobTypesQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = JobTypesDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::page()),
        ),
        ListRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    _: Tenant,
    operator: Option<Operator>,
    query: QueryText,
) -> Answer {
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let after = paging::cursor(&query, &mut errors, position);
    Problem::check(errors)?;
    let page = api.job_types.store.job_types(after.as_ref(), limit).await?;
    let page = own::merge(page, &api.registry, after.as_ref(), limit);
    let next_cursor = page.next.as_deref().map(paging::encode_cursor);
    let link = |cursor: &str| paging::next_link("/api/job-types", &[("limit", &limit.to_string()), ("cursor", cursor)]);
    let link = next_cursor.as_deref().map(link);
    let reader = Reader::from(operator.as_ref());
    let document = |listed: &Listed| match listed {
        Listed::Own(registration) => JobTypeDocument::new(registration, Reader::Anyone),
        Listed::Stored(registration) => JobTypeDocument::new(registration, reader),
    };
    let job_types = page.items.iter().filter_map(document).collect();
    Ok(paging::answer(JobTypesDocument { job_types, next_cursor }, link))
}

/// Decodes the name in a cursor; `None` if no page can have returned this cursor.
fn position(cursor: &str) -> Option<TypeName> {
    paging::decode_cursor(cursor).and_then(|name| TypeName::parse(&name).ok())
}
