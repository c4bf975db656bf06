//! `GET /api/datasets/{dataset}/records`: imported records, in pages.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse};
use longshore::http::{Answer, Failure, PathText, QueryText, Tenant, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::{FieldError, Problem};
use longshore::store::records::{BadDatasetName, Dataset, ListError, RecordStore, StoredRecord};
use longshore_domain::ids::JobId;
use longshore_domain::ports::Page;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::datasets::records_path;
use crate::openapi::examples;
use crate::openapi::parameters::{DatasetInPath, RecordsQuery};
use crate::openapi::refusals::RecordsRefusals;
use crate::{Api, Backend};

/// Default page size.
const DEFAULT_LIMIT: usize = 100;

/// Maximum page size. The store also limits a page by bytes.
const MAX_LIMIT: usize = 1_000;

/// A page of records.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Records)]
pub struct RecordsDocument {
    /// Records, in a stable order.
    pub records: Vec<RecordDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// An imported record in its current version.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub struct RecordDocument {
    /// Key of the record.
    pub key: String,
    /// Values by column, converted as the schema requires.
    #[schema(value_type = Object)]
    pub record: Map<String, Value>,
    /// The job that wrote the record; `null` if it was not an import.
    #[schema(required = true)]
    pub job_id: Option<JobId>,
    /// Row number in that job's file, from 1.
    #[schema(required = true, minimum = 1)]
    pub row: Option<u64>,
    /// Time of the last write, in RFC 3339.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Returns a page of a dataset. A dataset without any import is empty.
#[utoipa::path(
    get,
    path = "/api/datasets/{dataset}/records",
    operation_id = "listRecords",
    tag = "records",
    summary = "Read the records that imports have written.",
    description = "A dataset that nobody has imported into is empty. The order stays the same; it is not by key.",
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
    let wanted = Wanted::read(tenant, dataset, &query)?;
    let page = api.records.list(&wanted.dataset, wanted.limit, wanted.cursor).await;
    let Page { items, next } = page.map_err(refused)?;
    let mut about = vec![(header::CACHE_CONTROL, "no-store".to_owned())];
    about.extend(next.as_ref().map(|cursor| (header::LINK, wanted.next_link(cursor))));
    let records = items.into_iter().map(RecordDocument::from).collect();
    Ok((AppendHeaders(about), Json(RecordsDocument { records, next_cursor: next })).into_response())
}

impl From<StoredRecord> for RecordDocument {
    fn from(stored: StoredRecord) -> Self {
        Self {
            key: stored.key,
            record: stored.record,
            job_id: stored.writer.map(|writer| writer.job),
            row: stored.writer.map(|writer| writer.row),
            updated_at: stored.updated_at.to_rfc3339(),
        }
    }
}

/// Parameters of a page of records.
struct Wanted<'a> {
    dataset: Dataset,
    limit: usize,
    cursor: Option<&'a str>,
}

impl<'a> Wanted<'a> {
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
