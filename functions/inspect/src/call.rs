//! `POST /api/uploads/{fileGuid}/inspect`.

use std::sync::Arc;

use axum::extract::State;
use longshore::field_error::FieldError;
use longshore::handler::{AnyJobType, Input, PreparedJob, Registry};
use longshore::header::check_sheet;
use longshore::http::{
    Access, Answer, Bad, Checked, Failure, Fields, JsonFields, PathText, Tenant, count_work_call, no_store,
};
use longshore::inspection::{Inspected, Inspection, Intended, inspect as inspect_file};
use longshore::job_request::{KnownTypes, ParsedReading, find_upload, prepare_options, read_reading, source_file};
use longshore::job_types::import;
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{Files, JobStore, JobTypes, Presets, TenantCounts, Upload};
use longshore_domain::preset::LearntPreset;
use longshore_domain::rate::Rate;
use longshore_domain::records::Form;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Map, Value};

use crate::document::{InspectionDocument, PreparedDocument};
use crate::first_part::{self, convert_first_part};
use crate::openapi::{FileGuidInPath, InspectRefusals, InspectRequest, example};

/// Maximum body size: a schema of up to 64 KiB with ample room for the other options, as in a request for a job.
const BODY_BYTES: usize = 256 * 1024;

/// State of the function: services, job types, limits and the clock.
pub struct Inspections<S, F> {
    /// Store of uploads and registered job types.
    pub store: S,
    /// The uploaded files.
    pub files: F,
    /// Job types that clients may request.
    pub registry: Registry,
    /// Access control.
    pub access: Access,
    /// Maximum size of a file in bytes.
    pub max_file_bytes: u64,
    /// Rate limit of a tenant's calls, per process.
    pub tenant_calls: Rate,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// Returns what a file is: 200, also if no job could read it.
#[utoipa::path(
    post,
    path = "/api/uploads/{fileGuid}/inspect",
    operation_id = "inspectUpload",
    tag = "uploads",
    summary = "Inspect an uploaded file.",
    description = include_str!("inspect.md").trim_ascii_end(),
    params(FileGuidInPath),
    request_body(
        content = InspectRequest,
        description = "Up to 256 KiB.",
        examples(
            ("file" = (summary = "Only the file", value = json!({}))),
            ("job" = (summary = "The file of an import", value = json!({
                "jobType": "import",
                "options": { "dataset": "customers", "key": "id" },
            }))),
        ),
    ),
    responses(
        (
            status = 200,
            description = "What was found.",
            body = InspectionDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(example()),
        ),
        InspectRefusals,
    ),
)]
pub(crate) async fn inspect<S, F>(
    State(inspections): State<Arc<Inspections<S, F>>>,
    tenant: Tenant,
    PathText(id): PathText,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer
where
    S: JobStore + JobTypes + TenantCounts + Presets,
    F: Files,
{
    let Inspections { store, files, registry, clock, .. } = &*inspections;
    let upload = inspections.upload(&tenant, &id).await?;
    let types = KnownTypes::of(&fields, registry, store).await?;
    let request = Request::read(fields, &types)?;
    // Compiling a schema can take a second, so the call is counted first.
    count_work_call(store, &tenant.0, clock()).await?;
    let compiled = match request.job_type {
        Some(job_type) => Some(prepare_options(job_type, &request.options).map_err(Problem::invalid)?),
        None => None,
    };
    let file_guid = upload.file_guid;
    let source =
        source_file(files, upload, request.reading.clone(), inspections.max_file_bytes).await?.map_err(refused)?;
    let presets = match request.dataset(&tenant) {
        // An inspection without a suggestion is better than none.
        Some(dataset) => store.presets(&dataset).await.unwrap_or_else(|error| {
            tracing::warn!(error = telemetry::chain(&error), "cannot read the presets of a dataset");
            Vec::new()
        }),
        None => Vec::new(),
    };
    let intended = request.intended(compiled, presets);
    let (prepared, mut found) = match inspect_file(files, &source, request.reading.csv, intended).await? {
        Inspected::Found(found) => (None, found),
        Inspected::Unprepared(form, intended) => inspect_prepared(files, &source, form, &request, intended).await?,
    };
    if let (None, Err(error)) = (
        &found.error,
        check_sheet(prepared.as_ref().is_some_and(PreparedDocument::is_workbook), request.reading.sheet.as_ref()),
    ) {
        found = Inspection::refused(error);
    }
    let document = InspectionDocument::new(file_guid, &source, prepared, found, request.job_type.map(AnyJobType::name));
    Ok(no_store(document))
}

/// Inspects a file of which a part must be converted first.
async fn inspect_prepared(
    files: &impl Files,
    source: &SourceFile,
    form: Form,
    request: &Request<'_>,
    intended: Option<Intended<'_>>,
) -> Result<(Option<PreparedDocument>, Inspection), Failure> {
    let mut part = match convert_first_part(files, source, form, request.reading.sheet.as_ref()).await? {
        Ok(part) => part,
        Err(error) => return Ok((None, Inspection::refused(error))),
    };
    let mut found = match inspect_file(&part.file, &part.source, request.reading.csv, intended).await? {
        Inspected::Found(found) => found,
        Inspected::Unprepared(..) => return Err(Failure::Internal("a prepared file is not prepared".into())),
    };
    if part.is_cut && found.error.as_ref().is_some_and(|error| ["header_missing", "file_empty"].contains(&&*error.code))
    {
        found = Inspection::refused(first_part::header_too_far());
    }
    if let (Some(rows), Some(reading)) = (&part.rows, found.reading) {
        part.document.header_sheet_row = rows.header_row(reading.header_row);
        name_sheet_row(&mut found.issues, reading.header_row, part.document.header_sheet_row);
        found.rows.iter_mut().for_each(|row| row.sheet_row = rows.row_of(row.number, reading.header_row));
    }
    Ok((Some(part.document), found))
}

/// Adds the row of the sheet to issues about the header row, which counts only rows with text.
fn name_sheet_row(issues: &mut [JobError], header_row: u32, sheet_row: Option<u32>) {
    let Some(sheet_row) = sheet_row.filter(|row| *row != header_row) else { return };
    let is_about_row = |issue: &&mut JobError| ["rows_above_header", "header_looks_like_data"].contains(&&*issue.code);
    for issue in issues.iter_mut().filter(is_about_row) {
        issue.message.push_str(&format!("; rows without text do not count: it is row {sheet_row} of the sheet"));
    }
}

impl<S: JobStore, F> Inspections<S, F> {
    /// Returns the upload of a path.
    ///
    /// # Errors
    /// 404 if the upload does not exist, belongs to another tenant, or has expired.
    async fn upload(&self, tenant: &Tenant, id: &str) -> Result<Upload, Failure> {
        let upload = match FileGuid::parse(id) {
            Some(id) => find_upload(&self.store, tenant, id, (self.clock)().seconds()).await?,
            None => None,
        };
        Ok(upload.ok_or_else(|| Problem::not_found("upload"))?)
    }
}

/// Returns 409 if the file is missing, or 422: it has another size, or its reading is not possible.
fn refused(Bad { code, detail }: Bad) -> Problem {
    match code {
        "file_not_uploaded" => Problem::new(Kind::UploadIncomplete, detail),
        "reading_not_allowed" => Problem::invalid(vec![FieldError::new("/reading", code, detail)]),
        _ => Problem::invalid(vec![FieldError::new("", code, detail)]),
    }
}

/// A valid request.
struct Request<'a> {
    job_type: Option<&'a dyn AnyJobType>,
    options: Value,
    reading: ParsedReading,
}

impl<'a> Request<'a> {
    fn read(mut fields: Fields, types: &'a KnownTypes<'a>) -> Result<Self, Problem> {
        let job_type = fields.optional("jobType", |value| types.find(value).and_then(takes_file));
        let options = fields.optional("options", |value| Ok(value.clone()));
        let reading = read_reading(&mut fields, true);
        if options.is_some() && job_type.is_none() {
            fields.refuse("options", &Bad::new("job_type_required", "options are those of a job type; send jobType"));
        }
        fields.finish()?;
        Ok(Self { job_type, options: options.unwrap_or_else(|| Value::Object(Map::new())), reading })
    }

    /// Returns the dataset of an import.
    fn dataset(&self, tenant: &Tenant) -> Option<Dataset> {
        self.job_type.filter(|job_type| job_type.name() == import::NAME)?;
        Dataset::named(tenant.0.clone(), self.options.get("dataset")?.as_str()?).ok()
    }

    fn intended(&self, prepared: Option<Box<dyn PreparedJob>>, presets: Vec<LearntPreset>) -> Option<Intended<'_>> {
        let (job_type, prepared) = self.job_type.zip(prepared)?;
        Some(Intended { job_type, options: self.options.clone(), prepared, presets })
    }
}

fn takes_file(job_type: &dyn AnyJobType) -> Checked<&dyn AnyJobType> {
    if job_type.input() == Input::File {
        return Ok(job_type);
    }
    Err(Bad::new("file_not_allowed", "this job type takes no file"))
}
