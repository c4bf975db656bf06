//! `GET /api/datasets/{dataset}/records`: what imports have left behind, page by page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse};
use longshore::http::{Answer, Failure, PathText, QueryText, Tenant, paging};
use longshore::problem::{FieldError, Problem};
use longshore::store::records::{BadDatasetName, Dataset, ListError, RecordStore, StoredRecord};
use longshore_domain::ids::JobId;
use longshore_domain::ports::Page;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::datasets::records_path;
use crate::{Api, Backend};

/// Records of a page that nobody sized.
const DEFAULT_LIMIT: usize = 100;

/// Records of the largest page; the store also bounds it by bytes.
const MAX_LIMIT: usize = 1_000;

/// A page of records.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordsDocument {
    /// The records, in an order that stays the same.
    pub records: Vec<RecordDocument>,
    /// For the next page; none on the last one.
    pub next_cursor: Option<String>,
}

/// A record as it stands.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordDocument {
    /// Its key.
    pub key: String,
    /// Its properties.
    pub record: Map<String, Value>,
    /// The job that wrote it; none if it was no import.
    pub job_id: Option<JobId>,
    /// The row of that job's file, from 1.
    pub row: Option<u64>,
    /// When, in RFC 3339.
    pub updated_at: String,
}

/// A page of a dataset; a dataset that nobody has imported into is empty.
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

/// Which page.
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
