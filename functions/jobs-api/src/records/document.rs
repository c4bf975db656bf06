//! Response documents for datasets and records.

use longshore_domain::ids::JobId;
use longshore_domain::ports::{DatasetInfo, StoredRecord};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A page of datasets.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Datasets)]
pub struct DatasetsDocument {
    /// Datasets, ordered by name.
    pub datasets: Vec<DatasetDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A dataset.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Dataset)]
pub struct DatasetDocument {
    /// Name of the dataset.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    pub name: String,
    /// Time when the first import wrote to the dataset, in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Paths of related resources.
    pub links: DatasetLinks,
}

/// Paths of a dataset's resources.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct DatasetLinks {
    /// Path of the dataset's records.
    #[schema(format = "uri-reference")]
    pub records: String,
}

impl From<DatasetInfo> for DatasetDocument {
    fn from(known: DatasetInfo) -> Self {
        let records = records_path(&known.name);
        Self { name: known.name, created_at: known.created_at.to_rfc3339(), links: DatasetLinks { records } }
    }
}

/// Path of a dataset's records.
pub(crate) fn records_path(dataset: &str) -> String {
    format!("/api/datasets/{dataset}/records")
}

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
    /// Values by column, converted to the types of the schema.
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
