//! OpenAPI metadata of the call: parameters, request, refusals and example. `shared/src/openapi` assembles the
//! document.

use longshore::inspection::{CellType, FoundColumn, FoundRow};
use longshore::job_request::ReadingRequest;
use longshore::refusals;
use longshore_domain::ids::FileGuid;
use longshore_domain::records::{Format, Reading};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::InspectionDocument;

/// Path parameter that identifies an upload.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FileGuidInPath {
    /// Id of the upload, as returned by `POST /api/uploads`.
    #[param(rename = "fileGuid", format = "uuid")]
    #[allow(dead_code, reason = "for the schema only")]
    file_guid: String,
}

/// A request to inspect an uploaded file.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct InspectRequest {
    /// Name of the job type that would process the file.
    #[schema(value_type = Option<String>, min_length = 1, examples("import"))]
    job_type: Option<String>,
    /// Options of the job type, as in a request for a job.
    #[schema(value_type = Option<Object>)]
    options: Option<Value>,
    /// How the file is read. What is absent is found in the file.
    reading: Option<ReadingRequest>,
}

refusals!(
    /// Refusals of `POST /api/uploads/{fileGuid}/inspect`.
    InspectRefusals: MalformedJson, NotFound, UploadIncomplete, BodyTooLarge, UnsupportedMediaType, InvalidRequest
);

const GUID: &str = "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";

/// Example: a file of an import.
pub(crate) fn example() -> InspectionDocument {
    let column = |name: &str, found| FoundColumn {
        name: name.to_owned(),
        found,
        notation: None,
        question: None,
        needs_pivot_year: false,
    };
    let row = |number, cells: [&str; 2]| FoundRow {
        number,
        sheet_row: None,
        cells: cells.map(str::to_owned).into(),
        problem: None,
    };
    let reading = Reading::default();
    InspectionDocument {
        file_guid: FileGuid::parse(GUID).unwrap_or_else(FileGuid::generate),
        format: Format::Csv,
        prepared: None,
        reading: Some(reading),
        columns: vec![column("id", CellType::Number), column("email", CellType::Text)],
        rows: vec![row(1, ["1", "ann@example.com"]), row(2, ["2", "bob@example.com"])],
        issues: Vec::new(),
        error: None,
        preset: None,
        request: Some(json!({
            "jobType": "import",
            "fileGuid": GUID,
            "reading": { "format": "csv", "encoding": "UTF-8", "delimiter": ",", "quote": "\"", "headerRow": 1 },
            "options": { "dataset": "customers", "key": "id" },
        })),
    }
}
