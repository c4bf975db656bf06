//! `GET /api/datasets/{dataset}/records`: imported records, in pages.

use std::sync::Arc;

use axum::extract::State;
use longshore::field_error::FieldError;
use longshore::http::{Answer, Failure, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::ports::Page;
use longshore_domain::ports::{ListError, RecordStore};

use super::document::{RecordDocument, RecordsDocument, records_path};
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::parameters::{DatasetInPath, RecordsQuery};
use crate::openapi::refusals::RecordsRefusals;

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size. The store also limits a page by bytes.
const MAX_LIMIT: usize = 1_000;

/// Returns a page of a dataset. A dataset without any import is empty.
#[utoipa::path(
    get,
    path = "/api/datasets/{dataset}/records",
    operation_id = "listRecords",
    tag = "records",
    summary = "List the records of a dataset.",
    description = "A dataset without imports is empty. The order is stable, but not that of the keys.",
    params(DatasetInPath, RecordsQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = RecordsDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::records()),
        ),
        RecordsRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(dataset): PathText,
    query: QueryText,
) -> Answer {
    let request = RecordsRequest::read(tenant, dataset, &query)?;
    let page = api.records.list(&request.dataset, request.limit, request.cursor).await;
    let Page { items, next } = page.map_err(refused)?;
    let link = next.as_ref().map(|cursor| request.next_link(cursor));
    let records = items.into_iter().map(RecordDocument::from).collect();
    Ok(paging::answer(RecordsDocument { records, next_cursor: next }, link))
}

/// Parameters of a page of records.
struct RecordsRequest<'a> {
    dataset: Dataset,
    limit: usize,
    cursor: Option<&'a str>,
}

impl<'a> RecordsRequest<'a> {
    fn read(Tenant(tenant): Tenant, dataset: String, query: &'a QueryText) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let dataset = Dataset::named(tenant, dataset).map_err(|bad| {
            errors.push(FieldError::new("/dataset", BadDatasetName::CODE, bad.to_string()));
        });
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        match dataset {
            Ok(dataset) if errors.is_empty() => Ok(Self { dataset, limit, cursor: query.get("cursor") }),
            _ => Err(Problem::invalid(errors)),
        }
    }

    fn next_link(&self, cursor: &str) -> String {
        let path = records_path(&self.dataset.name);
        paging::next_link(&path, &[("limit", &self.limit.to_string()), ("cursor", cursor)])
    }
}

fn refused(error: ListError) -> Failure {
    match error {
        ListError::Port(error) => error.into(),
        ListError::BadCursor => Problem::invalid(vec![paging::bad_cursor()]).into(),
    }
}
