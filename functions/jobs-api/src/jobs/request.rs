//! Reads and validates a request for a job, without calling any service.

use std::collections::BTreeMap;

use longshore::field_error::FieldError;
use longshore::handler::AnyJobType;
use longshore::http::Fields;
use longshore::job_request::{KnownTypes, ParsedReading, ReadingRequest, prepare_options, read_reading};
use longshore::problem::Problem;
use longshore_domain::cost::NanoDollars;
use longshore_domain::ids::{EndpointId, FileGuid};
use longshore_domain::job::{Priority, Tolerance};
use longshore_domain::ports::Definition;
use longshore_domain::registration::VersionedRegistration;
use longshore_domain::results::{ResultRow, ResultsForm};
use longshore_domain::split::ChunkLimits;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::items::{CreateBody, Items, check_items};
use super::metadata::{self, Metadata};
use super::request_checks::{
    check_callback, check_file, check_max_cost, check_priority, check_start_at, check_timeout,
};
use super::results_request::{ResultsRequest, results_form};
use super::source_request::{ParsedSource, SourceRequest, read_source};

/// A request to run a job, usually over an uploaded file or a list of items.
#[derive(Clone, PartialEq, Debug, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct JobRequest {
    /// Name of a job type of the deployment, or of a registered one that is active.
    #[schema(min_length = 1, examples("import"))]
    pub(super) job_type: String,
    /// The upload to process. A job type that takes a file requires one of `fileGuid`, `items` and `source`; any other
    /// job type takes neither file nor items.
    #[schema(rename = "fileGuid")]
    pub(super) file: Option<FileGuid>,
    /// How the file is read. What is absent is found in the file.
    #[schema(value_type = Option<ReadingRequest>)]
    pub(super) reading: ParsedReading,
    /// The items to process, instead of a file: any JSON values, objects for `import`. They are stored as JSON Lines
    /// without white space between tokens, and may have up to 2 MiB in this form.
    #[schema(value_type = Option<Vec<Value>>, min_items = 1, max_items = 10_000)]
    pub(super) items: Option<Items>,
    /// The dataset whose records are the items, required by job types that take a dataset; or a part of a job that has
    /// ended, instead of a file or items.
    #[schema(value_type = Option<SourceRequest>)]
    pub(super) source: Option<ParsedSource>,
    /// Priority of the job. Each priority has its own queue.
    #[schema(value_type = Option<Priority>)]
    pub(super) priority: Priority,
    /// Labels of the job, returned in its document. `GET /api/jobs` finds jobs by them. They cannot be changed later.
    #[schema(value_type = Option<Metadata>)]
    pub(super) metadata: BTreeMap<String, String>,
    /// Id of a webhook of the tenant that gets the events of this job, even if it gets only those of jobs that name it.
    pub(super) callback: Option<EndpointId>,
    /// Options of the job type; for `import` see ImportOptions.
    #[schema(value_type = Option<Object>)]
    pub(super) options: Value,
    /// Form of the results file. Allowed if the items of the job type have an output.
    #[schema(value_type = Option<ResultsRequest>)]
    pub(super) results: Option<ResultsForm>,
    /// Maximum cost of each run of the job in US dollars, at the list prices of its cost. The job stops with the error
    /// `cost_limit` before it is exceeded; a retry continues with as much again. It must cover the split and the end of
    /// the job, which cost some hundred-thousandths of a dollar, and more for large files.
    // With the tolerated failures, which are options.
    #[schema(
        rename = "maxCost",
        value_type = Option<f64>,
        exclusive_minimum = 0,
        maximum = 1_000_000,
        examples(0.25)
    )]
    pub(super) tolerance: Tolerance,
    /// Time from which the job is started, in RFC 3339: up to a minute later. It may be as far ahead as the source of
    /// the items is kept, less the time limit and an hour. Absent, or not in the future: at once.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) start_at: Option<Timestamp>,
    /// Time limit in seconds from the start, checked once a minute. A job that is unfinished by then is stopped with
    /// the error `time_limit`. Maximum and default are the limit of the job type or of the deployment.
    #[schema(rename = "timeoutSeconds", value_type = Option<i64>, minimum = 1)]
    pub(super) timeout_s: i64,
    /// Validation only: the job checks its file, and another job can be started to import it.
    #[schema(ignore)]
    pub(super) checks_only: bool,
    /// True if the job stores what its undo needs.
    #[schema(ignore)]
    pub(super) undoable: bool,
    /// True if each item becomes a record.
    #[schema(ignore)]
    pub(super) writes_records: bool,
    /// Limits of the chunks of the job type.
    #[schema(ignore)]
    pub(super) chunk_limits: ChunkLimits,
    /// The registration of a registered job type.
    #[schema(ignore)]
    pub(super) registration: Option<VersionedRegistration>,
    /// The trace of the caller, from the request's headers.
    #[schema(ignore)]
    pub(super) trace: Option<TraceId>,
}

/// Errors of an invalid request that were found without calling a service, and its file, which may be invalid too.
#[derive(Debug)]
pub(super) struct BadRequest {
    pub(super) problem: Box<Problem>,
    pub(super) file: Option<FileGuid>,
}

/// A parsed request whose options are not compiled yet, because compiling may take a second of processor time.
pub(super) struct Draft<'a> {
    fields: Fields,
    job_type: Option<&'a dyn AnyJobType>,
    file: Option<FileGuid>,
    reading: ParsedReading,
    items: Option<Items>,
    source: Option<ParsedSource>,
    priority: Priority,
    metadata: BTreeMap<String, String>,
    callback: Option<EndpointId>,
    options: Value,
    results: Option<ResultsRequest>,
    max_cost: Option<NanoDollars>,
    start_at: Option<Timestamp>,
    timeout_s: i64,
}

impl<'a> Draft<'a> {
    /// Reads a request for a job of one of these types. `time_limit_s` applies to types without their own limit.
    pub(super) fn read(body: CreateBody, types: &'a KnownTypes<'a>, time_limit_s: i64) -> Self {
        let CreateBody { mut fields, items } = body;
        let job_type = fields.required("jobType", |value| types.find(value));
        let file = fields.optional("fileGuid", |value| Ok(value.as_str().and_then(FileGuid::parse)));
        // The body's reader has taken the items; this adds them to the known fields.
        fields.optional("items", |_| Ok(()));
        let reading = read_reading(&mut fields, file.is_some());
        let source = read_source(&mut fields, job_type, file.is_some() || items.is_some());
        let priority = fields.optional("priority", check_priority).unwrap_or_default();
        let metadata = fields.optional("metadata", |value| Ok(metadata::from_body(value))).transpose();
        let metadata = metadata.unwrap_or_else(|errors| {
            fields.refuse_all(errors);
            None
        });
        let callback = fields.optional("callback", check_callback);
        let options = fields.optional("options", |value| Ok(value.clone()));
        let options = options.unwrap_or_else(|| Value::Object(Map::new()));
        let results = fields.optional("results", |value| Ok(ResultsRequest::read(value))).transpose();
        let results = results.unwrap_or_else(|errors| {
            fields.refuse_all(errors);
            None
        });
        let max_cost = fields.optional("maxCost", check_max_cost);
        let start_at = fields.optional("startAt", check_start_at);
        let limit_s = job_type.and_then(|job_type| job_type.limits().job_time_limit_s).unwrap_or(time_limit_s);
        let timeout_s = fields.optional("timeoutSeconds", |value| check_timeout(value, limit_s)).unwrap_or(limit_s);
        if let Err(bad) = check_file(job_type, file, items.is_some() || source.is_some()) {
            fields.refuse("fileGuid", &bad);
        }
        let items = items.and_then(|items| check_items(&mut fields, job_type, file.is_some(), items));
        let (file, source) = (file.flatten(), source.flatten());
        let metadata = metadata.unwrap_or_default();
        Self {
            fields,
            job_type,
            file,
            reading,
            items,
            source,
            priority,
            metadata,
            callback,
            options,
            results,
            max_cost,
            start_at,
            timeout_s,
        }
    }

    /// Returns the canonical form of a valid request, or `None`. Two bodies with the same meaning have the same form.
    /// A request without metadata, reading, callback, start and items has the form of earlier versions, which did not
    /// know them.
    pub(super) fn canonical(&self) -> Option<Value> {
        let job_type = self.job_type.filter(|_| self.fields.is_valid())?;
        let mut form = json!({
            "jobType": job_type.name(), "fileGuid": self.file, "priority": self.priority, "options": self.options,
            "timeoutSeconds": self.timeout_s,
        });
        if !self.metadata.is_empty() {
            form["metadata"] = json!(self.metadata);
        }
        if !self.reading.is_empty() {
            form["reading"] = json!(self.reading);
        }
        if let Some(callback) = self.callback {
            form["callback"] = json!(callback);
        }
        if let Some(start_at) = self.start_at {
            form["startAt"] = json!(start_at);
        }
        if let Some(max_cost) = self.max_cost {
            form["maxCost"] = json!(max_cost.dollars());
        }
        if let Some(results) = self.results.as_ref().filter(|results| **results != ResultsRequest::default()) {
            form["results"] = json!(results);
        }
        if let Some(source) = &self.source {
            form["source"] = json!(source);
        }
        if let Some(items) = &self.items {
            form["items"] = json!(items.sha256());
        }
        Some(form)
    }

    /// Compiles the options.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub(super) fn compile(self) -> Result<JobRequest, BadRequest> {
        let Self {
            mut fields,
            job_type,
            file,
            reading,
            items,
            source,
            priority,
            metadata,
            callback,
            options,
            results,
            max_cost,
            start_at,
            timeout_s,
        } = self;
        let Some(job_type) = job_type else {
            return Err(BadRequest { problem: Box::new(fields.into_problem()), file });
        };
        let (mut tolerance, mut form) = (Tolerance::default(), None);
        match check_options(job_type, &options) {
            Ok(checked) => {
                tolerance = Tolerance { max_cost, ..checked.tolerance };
                let room = Definition::MAX_OPTIONS_BYTES.saturating_sub(options.to_string().len());
                form = results_form(&mut fields, results, checked.outputs, room);
            }
            Err(errors) => fields.refuse_all(errors),
        }
        fields.finish().map_err(|problem| BadRequest { problem: Box::new(problem), file })?;
        let (checks_only, undoable) = (job_type.started(&options).is_some(), job_type.is_undoable(&options));
        let (writes_records, chunk_limits) = (job_type.writes_records(&options), job_type.limits().chunk());
        let registration = job_type.registration().cloned();
        let job_type = job_type.name().to_owned();
        let results = form;
        Ok(JobRequest {
            job_type,
            file,
            reading,
            items,
            source,
            priority,
            metadata,
            callback,
            options,
            results,
            tolerance,
            start_at,
            timeout_s,
            checks_only,
            undoable,
            writes_records,
            chunk_limits,
            registration,
            trace: None,
        })
    }
}

/// The parts of valid options that the job itself needs.
struct CheckedOptions {
    /// Tolerated failures.
    tolerance: Tolerance,
    /// Shape of the rows of the results and members of the outputs; `None` if the items have no output.
    outputs: Option<(ResultRow, Vec<String>)>,
}

/// Validates the options.
fn check_options(job_type: &dyn AnyJobType, options: &Value) -> Result<CheckedOptions, Vec<FieldError>> {
    let prepared = prepare_options(job_type, options)?;
    Ok(CheckedOptions { tolerance: prepared.tolerance(), outputs: prepared.result_columns() })
}
