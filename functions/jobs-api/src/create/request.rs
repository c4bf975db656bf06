//! What a client says about the job that it wants, and everything that is wrong with it before a service is asked.

use longshore::handler::{AnyJobType, Input, Registry};
use longshore::http::{Bad, Checked, Fields};
use longshore::problem::{FieldError, Problem};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Priority, Tolerance};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Bytes of options as they are stored: in one item of 400 KB, beside the columns of the file.
const OPTIONS_BYTES: usize = 128 * 1024;

/// What is to be done, over which file.
#[derive(Clone, PartialEq, Debug, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct JobRequest {
    /// Name of its job type, one of those that the deployment knows.
    #[schema(min_length = 1, examples("import"))]
    pub(super) job_type: String,
    /// The upload to work through; required by job types that take a file, refused by the others.
    #[schema(rename = "fileGuid")]
    pub(super) file: Option<FileGuid>,
    /// How urgent it is: a queue of its own for each.
    #[schema(value_type = Option<Priority>)]
    pub(super) priority: Priority,
    /// As the job type has it; for `import` see ImportOptions.
    #[schema(value_type = Option<Object>)]
    pub(super) options: Value,
    /// How many failures it tolerates: what the options say.
    #[schema(ignore)]
    pub(super) tolerance: Tolerance,
    /// Seconds from now after which the job is stopped if it has not ended, with the error `time_limit`. At most, and if
    /// absent, the limit of the job type or of the deployment. It is looked at once a minute.
    #[schema(rename = "timeoutSeconds", value_type = Option<i64>, minimum = 1)]
    pub(super) timeout_s: i64,
    /// It only checks its file; another job can do so for real.
    #[schema(ignore)]
    pub(super) checks_only: bool,
}

/// What is wrong with a request, as far as it tells by itself, and the file that it names: that can be wrong, too.
#[derive(Debug)]
pub(super) struct BadRequest {
    pub(super) problem: Box<Problem>,
    pub(super) file: Option<FileGuid>,
}

/// A parsed request whose options are not compiled yet, since compiling may take a second of processor time.
pub(super) struct Draft<'a> {
    fields: Fields,
    job_type: Option<&'a dyn AnyJobType>,
    file: Option<FileGuid>,
    priority: Priority,
    options: Value,
    timeout_s: i64,
}

impl<'a> Draft<'a> {
    /// Reads a request for a job of one of these types. `time_limit_s` is for types without a limit of their own.
    pub(super) fn read(mut fields: Fields, registry: &'a Registry, time_limit_s: i64) -> Self {
        let job_type = fields.required("jobType", |value| known_type(value, registry));
        let file = fields.optional("fileGuid", |value| Ok(value.as_str().and_then(FileGuid::parse)));
        let priority = fields.optional("priority", check_priority).unwrap_or_default();
        let options = fields.optional("options", |value| Ok(value.clone()));
        let options = options.unwrap_or_else(|| Value::Object(Map::new()));
        let limit_s = job_type.and_then(|job_type| job_type.limits().job_time_limit_s).unwrap_or(time_limit_s);
        let timeout_s = fields.optional("timeoutSeconds", |value| check_timeout(value, limit_s)).unwrap_or(limit_s);
        if let Err(bad) = check_file(job_type, file) {
            fields.refuse("fileGuid", &bad);
        }
        Self { fields, job_type, file: file.flatten(), priority, options, timeout_s }
    }

    /// The canonical form of a valid request, or `None`: equal for two bodies with the same meaning.
    pub(super) fn meaning(&self) -> Option<Value> {
        let job_type = self.job_type.filter(|_| self.fields.is_right())?;
        Some(json!({
            "jobType": job_type.name(), "fileGuid": self.file, "priority": self.priority, "options": self.options,
            "timeoutSeconds": self.timeout_s,
        }))
    }

    /// Compiles the options.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub(super) fn compile(self) -> Result<JobRequest, BadRequest> {
        let Self { mut fields, job_type, file, priority, options, timeout_s } = self;
        let Some(job_type) = job_type else {
            return Err(BadRequest { problem: Box::new(fields.into_problem()), file });
        };
        let tolerance = check_options(job_type, &options).unwrap_or_else(|errors| {
            fields.refuse_all(errors);
            Tolerance::default()
        });
        fields.finish().map_err(|problem| BadRequest { problem: Box::new(problem), file })?;
        let checks_only = job_type.started(&options).is_some();
        let job_type = job_type.name().to_owned();
        Ok(JobRequest { job_type, file, priority, options, tolerance, timeout_s, checks_only })
    }
}

fn known_type<'a>(value: &Value, registry: &'a Registry) -> Checked<&'a dyn AnyJobType> {
    let known = value.as_str().and_then(|name| registry.find(name));
    known.ok_or_else(|| {
        let names = registry.names().join(", ");
        Bad::new("unknown_job_type", format!("there is no job type {value}; the job types are: {names}"))
    })
}

fn check_priority(value: &Value) -> Checked<Priority> {
    let known = value.as_str().and_then(Priority::parse);
    known.ok_or_else(|| {
        Bad::new("invalid_priority", "priority is high, normal or low; a job is normal if it says nothing")
    })
}

fn check_timeout(value: &Value, limit_s: i64) -> Checked<i64> {
    value.as_i64().filter(|seconds| (1..=limit_s).contains(seconds)).ok_or_else(|| {
        let detail = format!("timeoutSeconds is a whole number from 1 to {limit_s}, the most that this job may take");
        Bad::new("invalid_timeout", detail)
    })
}

/// `Some(None)` is a file that is named by something else than a UUID. Of an unknown type it is not known whether it
/// wants a file.
fn check_file(job_type: Option<&dyn AnyJobType>, file: Option<Option<FileGuid>>) -> Checked<()> {
    match (job_type.map(AnyJobType::input), file) {
        (None | Some(Input::File), Some(Some(_))) | (None | Some(Input::Options), None) => Ok(()),
        (None | Some(Input::File), Some(None)) => Err(unknown_file()),
        (Some(Input::File), None) => {
            let detail = "this job type works through a file: ask POST /api/uploads where to put it";
            Err(Bad::new("file_required", detail))
        }
        (Some(Input::Options), Some(_)) => {
            Err(Bad::new("file_not_allowed", "this job type takes no file, only options"))
        }
    }
}

/// No upload of this id, or another tenant's: the two look the same.
pub(crate) fn unknown_file() -> Bad {
    Bad::new("unknown_file", "there is no upload of this id; take the fileGuid that POST /api/uploads answered")
}

/// Good options, and the failures that they tolerate.
fn check_options(job_type: &dyn AnyJobType, options: &Value) -> Result<Tolerance, Vec<FieldError>> {
    if !options.is_object() {
        return Err(vec![FieldError::new("/options", "invalid_type", "options is an object")]);
    }
    let bytes = options.to_string().len();
    if bytes > OPTIONS_BYTES {
        let detail = format!(
            "options have {bytes} bytes, and may have up to {OPTIONS_BYTES}; leave out what the job does not need"
        );
        return Err(vec![FieldError::new("/options", "options_too_large", detail)]);
    }
    Ok(job_type.prepare(options)?.tolerance())
}
