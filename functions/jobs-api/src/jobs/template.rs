//! The job of a schedule: a request that is validated when the schedule is stored, and that needs nothing that expires.

use std::collections::BTreeMap;

use longshore::field_error::FieldError;
use longshore::handler::Input;
use longshore::http::{Failure, Fields, Tenant};
use longshore::job_request::KnownTypes;
use longshore::problem::{Kind, Problem};
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, Priority, Source};
use longshore_domain::schedule::{JOB_BYTES, JobTemplate, OptionsCheck};
use serde_json::{Map, Value, json};

use super::create::check_callback;
use super::estimate::check_covers_split;
use super::export::with_columns;
use super::items::CreateBody;
use super::request::Draft;
use super::results_request::ResultsRequest;
use super::source_request::{ParsedSource, find_dataset};
use crate::backend::{Api, Backend};

/// Validates the job of a schedule.
///
/// # Errors
/// 422 with the errors of the job, below `/job`; or a service fails.
pub(crate) async fn template<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    members: Map<String, Value>,
) -> Result<JobTemplate, Failure> {
    read(api, tenant, members).await.map_err(in_job)
}

/// Returns true if a request is for the stored job of a schedule. It calls no service and needs no job type, so it also
/// works for a job that is no longer valid.
pub(crate) fn is_same<B: Backend>(api: &Api<B>, stored: &JobTemplate, members: &Map<String, Value>) -> bool {
    let own_limit_s = api.registry.find(&stored.job_type).and_then(|job_type| job_type.limits().job_time_limit_s);
    let limit_s = own_limit_s.unwrap_or(api.limits.job_time_limit_s);
    let stored = stored.request.as_object();
    stored.is_some_and(|stored| without_defaults(stored, limit_s) == without_defaults(members, limit_s))
}

/// Returns the members of a request that do not have their default values.
fn without_defaults(members: &Map<String, Value>, limit_s: i64) -> BTreeMap<&str, Value> {
    let results = |value: &Value| match ResultsRequest::read(value) {
        Ok(form) => Some(json!(form)).filter(|_| form != ResultsRequest::default()),
        Err(_) => Some(value.clone()),
    };
    let unless = |value: &Value, default: Value| Some(value).filter(|value| **value != default).cloned();
    let members = members.iter().filter(|(_, value)| !value.is_null()).filter_map(|(name, value)| {
        let value = match name.as_str() {
            "priority" => unless(value, json!(Priority::default())),
            "options" | "metadata" | "reading" => unless(value, json!({})),
            "timeoutSeconds" => unless(value, json!(limit_s)),
            "results" => results(value),
            _ => Some(value.clone()),
        };
        Some((name.as_str(), value?))
    });
    members.collect()
}

async fn read<B: Backend>(api: &Api<B>, tenant: &Tenant, members: Map<String, Value>) -> Result<JobTemplate, Failure> {
    let source_form = members.get("source").filter(|source| !source.is_null()).cloned();
    let body = CreateBody { fields: Fields::new(members), items: None };
    let types = KnownTypes::of(&body.fields, &api.registry, &api.job_types.store).await?;
    check_schedulable(&body.fields, &types)?;
    let draft = Draft::read(body, &types, api.limits.job_time_limit_s);
    let mut form = draft.canonical().unwrap_or_default();
    let request = draft.compile().map_err(|bad| *bad.problem)?;
    let source = find_source(api, tenant, request.source).await?;
    let job = Job {
        source: source.clone().map(Source::Dataset),
        tolerance: request.tolerance,
        ..Job::waiting(JobId::generate(), tenant.0.clone(), &request.job_type, (api.clock)())
    };
    check_covers_split(&job, request.chunk_limits)?;
    if let Some(callback) = request.callback {
        check_callback(&api.ports.store, tenant, callback).await?;
    }
    let results = match request.results {
        Some(form) => Some(with_columns(&api.records, &job, form).await?),
        None => None,
    };
    if let Some(form) = form.as_object_mut() {
        form.remove("fileGuid");
        // The canonical form has parsed times; a client sends this one again.
        form.extend(source_form.map(|source| ("source".to_owned(), source)));
    }
    let template = JobTemplate {
        is_registered: request.registration.is_some(),
        options_check: request.registration.map(|registration| OptionsCheck::accepted(registration.version)),
        source,
        priority: request.priority,
        metadata: request.metadata,
        callback: request.callback,
        results,
        tolerance: request.tolerance,
        timeout_s: request.timeout_s,
        checks_only: request.checks_only,
        ..JobTemplate::new(request.job_type, form)
    };
    let bytes = json!(template).to_string().len();
    if bytes > JOB_BYTES {
        let detail = format!("the job has {bytes} bytes; the maximum of a scheduled one is {JOB_BYTES}");
        return Err(Problem::invalid(vec![FieldError::new("", "job_too_large", detail)]).into());
    }
    Ok(template)
}

/// Returns the dataset of a scheduled job; `None` if it needs only options.
///
/// # Errors
/// 422: `unknown_dataset`, `not_schedulable`.
async fn find_source<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    source: Option<ParsedSource>,
) -> Result<Option<DatasetSource>, Failure> {
    match source {
        Some(ParsedSource::Dataset(source)) => {
            find_dataset(&api.records, tenant, source.clone()).await?;
            Ok(Some(source))
        }
        Some(ParsedSource::Job(_)) => Err(not_schedulable("source", "a part of a job expires").into()),
        None => Ok(None),
    }
}

/// Checks that a request needs no file, no items and no time of its own.
///
/// # Errors
/// 422: `not_schedulable`.
fn check_schedulable(fields: &Fields, types: &KnownTypes<'_>) -> Result<(), Problem> {
    for (name, why) in
        [("fileGuid", "an upload expires"), ("items", "items expire"), ("startAt", "the schedule sets the start time")]
    {
        if fields.get(name).is_some_and(|value| !value.is_null()) {
            return Err(not_schedulable(name, why));
        }
    }
    let job_type = fields.get("jobType").and_then(|name| types.find(name).ok());
    if job_type.is_some_and(|job_type| job_type.input() == Input::File) {
        return Err(not_schedulable("jobType", "this job type takes a file, which expires"));
    }
    Ok(())
}

fn not_schedulable(name: &str, why: &str) -> Problem {
    let detail = if name == "startAt" {
        format!("{why}; remove startAt")
    } else {
        format!("{why}; use a dataset, or a job type that needs only options")
    };
    Problem::invalid(vec![FieldError::new(format!("/{name}"), "not_schedulable", detail)])
}

/// Returns a failure whose errors are those of the member `job`.
fn in_job(failure: Failure) -> Failure {
    match failure {
        Failure::Problem(mut problem) if problem.kind == Kind::InvalidRequest => {
            for error in &mut problem.errors {
                error.pointer.insert_str(0, "/job");
            }
            Failure::Problem(problem)
        }
        other => other,
    }
}
