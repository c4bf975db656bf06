//! Reads a request for a retry: the failed items that run again.
//!
//! The splitter reads the whole corrected file later. A single ranged read here finds most errors in time to report
//! them to the client.

use longshore::failures_file::{CORRECTED_BYTES, ColumnLayout, Columns, HEAD_BYTES};
use longshore::files::ResumingReader;
use longshore::http::{Bad, Checked, Failure, Fields, Tenant};
use longshore::job_request::{ParsedReading, unknown_file};
use longshore::job_retry::{CODE_CHARS, check_code, failure_text};
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{FailureFilter, Job, Selection, SourceFile};
use longshore_domain::ports::{Files, JobStore, PortError, Read};
use longshore_domain::records::{Extent, Form};
use serde_json::Value;
use utoipa::ToSchema;

use super::upload_source::{find_source, refused};
use crate::backend::{Api, Backend};
use crate::unreadable::unreadable;

/// Maximum number of characters of a field. No stored rejection has more: its field is cut to 200 characters and an
/// ellipsis.
const FIELD_CHARS: usize = 201;

/// Options of a retry: all failed items, those in a corrected file, or those with one code.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RetryRequest {
    /// Upload of a corrected failures file of up to 32 MiB.
    file_guid: Option<FileGuid>,
    /// Code of the failed items that run again; see `failuresByCode` of the result. Not together with `fileGuid`.
    #[schema(min_length = 1, max_length = 100)]
    code: Option<String>,
    /// Field of the failed items that run again. Only together with `code`.
    #[schema(min_length = 1, max_length = 201)]
    field: Option<String>,
}

impl RetryRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub(super) fn read(mut fields: Fields) -> Result<Self, Problem> {
        let file = |value: &Value| value.as_str().and_then(FileGuid::parse).ok_or_else(unknown_file);
        let file_guid = fields.optional("fileGuid", file);
        let code = fields.optional("code", |value| Ok(failure_text("code", value, CODE_CHARS)));
        let field = fields.optional("field", |value| Ok(failure_text("field", value, FIELD_CHARS)));
        let not_allowed = || {
            let detail = "a retry with a corrected file takes no code and no field: remove them, or remove fileGuid";
            Bad::new("code_not_allowed", detail)
        };
        if file_guid.is_none() && code.is_none() && field.is_some() {
            fields.refuse("code", &Bad::new("code_required", "field needs the code of the failures: add code"));
        }
        let mut read = |name, text: Option<Checked<String>>| match text {
            Some(Ok(_)) if file_guid.is_some() => {
                fields.refuse(name, &not_allowed());
                None
            }
            Some(Err(bad)) => {
                fields.refuse(name, &bad);
                None
            }
            text => text.and_then(Result::ok),
        };
        let (code, field) = (read("code", code), read("field", field));
        fields.finish()?;
        Ok(Self { file_guid, code, field })
    }

    /// Returns the failed items that run again.
    ///
    /// # Errors
    /// 422 at `/fileGuid`: see [`find_corrected`]. 422 at `/code`: `unknown_failure_code`.
    pub(super) async fn selection<B: Backend>(
        self,
        api: &Api<B>,
        tenant: &Tenant,
        job: &Job,
    ) -> Result<Selection, Failure> {
        let Self { file_guid, code, field } = self;
        match (file_guid, code) {
            (Some(file), _) => Ok(Selection::Corrected(find_corrected(api, tenant, job, file).await?)),
            (None, Some(code)) => {
                check_code(&api.ports.files, job, &code).await?;
                Ok(Selection::Failure(FailureFilter { code, field }))
            }
            (None, None) => Ok(Selection::All),
        }
    }
}

/// Returns the corrected failures file in its current version, identified by its entity tag.
///
/// # Errors
/// 422 at `/fileGuid`: the errors of a job's file, and `file_not_allowed`, `corrected_file_too_large`,
/// `not_a_failures_file`. 503 `unavailable` if the file cannot be read.
async fn find_corrected<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    job: &Job,
    id: FileGuid,
) -> Result<SourceFile, Failure> {
    let Some(format) = job.record_format() else { return Err(refused(no_file_to_correct())) };
    let file = find_source(api, tenant, id, ParsedReading::default()).await?;
    if file.size_bytes > CORRECTED_BYTES {
        return Err(refused(too_large(file.size_bytes)));
    }
    let definition = api.ports.store.definition(job.job_id).await?;
    let columns = Columns::from_names(format, definition.and_then(|definition| definition.columns));
    let columns =
        columns.ok_or_else(|| refused(not_a_failures_file("no row of this job has failed; retry without a file")))?;
    let head = read_head(&api.ports.files, &file).await?;
    if Form::detect(&head).is_some() {
        // It is converted first. The splitter checks its columns.
        return Ok(file);
    }
    let extent = Extent::from_lengths(head.len() as u64, file.size_bytes);
    ColumnLayout::find(&head, extent, &columns).map_err(|error| refused(not_a_failures_file(&error.to_string())))?;
    Ok(file)
}

/// Reads the first bytes of a file that existed a moment ago.
///
/// # Errors
/// 422 `unknown_file` if it no longer exists; 503 `unavailable` if it cannot be read.
async fn read_head(files: &impl Files, file: &SourceFile) -> Result<Vec<u8>, Failure> {
    let head = ResumingReader::new(files, file, 0).up_to(HEAD_BYTES).read_all().await;
    match head.map_err(|error| cannot_be_read(&error))? {
        Read::Found(head) => Ok(head),
        Read::Absent | Read::Changed => Err(refused(unknown_file())),
    }
}

fn cannot_be_read(error: &PortError) -> Failure {
    unreadable(&telemetry::chain(error), "the corrected file cannot be read at the moment; retry later")
}

fn not_a_failures_file(why: &str) -> Bad {
    Bad::new("not_a_failures_file", format!("the file is not a corrected failures file of this job: {why}"))
}

fn no_file_to_correct() -> Bad {
    Bad::new(
        "file_not_allowed",
        "this job has no file, so there are no rows to correct; retry without a file, or create another job",
    )
}

fn too_large(size_bytes: u64) -> Bad {
    let detail = format!(
        "the corrected file has {size_bytes} bytes; the maximum is {CORRECTED_BYTES}; split it, and retry with one \
         part after the other; rows that are in no part stay failed"
    );
    Bad::new("corrected_file_too_large", detail)
}
