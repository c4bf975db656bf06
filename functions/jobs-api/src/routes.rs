//! Calls of this function.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Router};
use longshore::config::{self, Aws, ConfigError};
use longshore::handler::Registry;
use longshore::http::{self, CallLimit};
use longshore::job_types::image::{self, image_registration};
use longshore::job_types::import::ImportOptions;
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore::remote::RegisteredType;
use longshore_domain::ports::TenantLimits;
use longshore_domain::timestamp::Timestamp;
use longshore_targets::root_secret::RootSecretReader;
use longshore_targets::{AllowedTargets, local_permissions, webhook_policy};

use crate::backend::{Api, Backend, Deployed, Limits};
use crate::job_types::Registrations;
use crate::jobs::{cancel, create, delete, delete_dataset, get, list, retry, start, undo};
use crate::queue_depths::QueueDepths;
use crate::records::datasets;
use crate::{audit, costs, documents, events, failures, job_types, output, records, results, schedules, webhooks};

// The order of the OpenAPI document and of its HTML page. A create costs 0 because its handler counts it, after it has
// looked up the idempotency key: a repeated create is answered regardless of the rate limit. An audit reads a whole
// report, for up to twenty seconds. A PUT of a job type compiles three schemas.
longshore::routes! {
    openapi(ImportOptions);
    [B: Backend] Arc<Api<B>>;
    POST   "/api/jobs"                        create::create<B> costs 0,
    GET    "/api/jobs"                        list::list<B>,
    GET    "/api/jobs/{jobId}"                get::get<B>,
    GET    "/api/jobs/{jobId}/output"         output::get::get<B>,
    GET    "/api/jobs/{jobId}/output/{file}"  output::file::get<B>,
    GET    "/api/jobs/{jobId}/images/{file}"  output::image::get<B>,
    GET    "/api/jobs/{jobId}/results"        results::list::list<B>,
    GET    "/api/jobs/{jobId}/failures"       failures::list::list<B>,
    GET    "/api/jobs/{jobId}/audit"          audit::get::get<B> costs 20,
    POST   "/api/jobs/{jobId}/cancel"         cancel::cancel<B>,
    POST   "/api/jobs/{jobId}/retry"          retry::retry<B>,
    POST   "/api/jobs/{jobId}/start"          start::start<B>,
    POST   "/api/jobs/{jobId}/undo"           undo::undo<B>,
    DELETE "/api/jobs/{jobId}"                delete::delete<B>,
    GET    "/api/costs"                       costs::month::get<B>,
    GET    "/api/events"                      events::list::list<B>,
    POST   "/api/webhooks"                    webhooks::create::create<B> costs 5,
    GET    "/api/webhooks"                    webhooks::get::list<B>,
    GET    "/api/webhooks/{webhookId}"        webhooks::get::get<B>,
    PUT    "/api/webhooks/{webhookId}"        webhooks::put::put<B> costs 5,
    DELETE "/api/webhooks/{webhookId}"        webhooks::delete::delete<B>,
    POST   "/api/webhooks/{webhookId}/test"   webhooks::test::test<B> costs 5,
    POST   "/api/webhooks/{webhookId}/secret" webhooks::secret::rotate<B>,
    GET    "/api/webhooks/{webhookId}/deliveries" webhooks::deliveries::list<B>,
    POST   "/api/webhooks/{webhookId}/deliveries/{deliveryId}/replay" webhooks::replay::one<B>,
    POST   "/api/webhooks/{webhookId}/replay" webhooks::replay::since<B> costs 5,
    POST   "/api/schedules"                   schedules::create::create<B> costs 5,
    GET    "/api/schedules"                   schedules::get::list<B> costs 5,
    GET    "/api/schedules/{scheduleId}"      schedules::get::get<B> costs 5,
    PUT    "/api/schedules/{scheduleId}"      schedules::put::put<B> costs 5,
    DELETE "/api/schedules/{scheduleId}"      schedules::delete::delete<B> costs 5,
    POST   "/api/schedules/{scheduleId}/trigger" schedules::trigger::trigger<B> costs 5,
    GET    "/api/schedules/{scheduleId}/occurrences" schedules::occurrences::list<B> costs 5,
    GET    "/api/datasets"                    datasets::list<B>,
    DELETE "/api/datasets/{dataset}"          delete_dataset::delete_dataset<B> costs 0,
    GET    "/api/datasets/{dataset}/records"  records::list::list<B>,
    DELETE "/api/datasets/{dataset}/records"  records::delete::delete<B>,
    PUT    "/api/job-types/{name}"            job_types::put::put<B> costs 5,
    GET    "/api/job-types/{name}"            job_types::get::get<B>,
    DELETE "/api/job-types/{name}"            job_types::delete::delete<B>,
    GET    "/api/job-types/{name}/secret"     job_types::secret::secret<B>,
    GET    "/api/job-types"                   job_types::list::list<B>,
    GET    "/api/openapi.json"                documents::docs::openapi [public],
    GET    "/api/docs"                        documents::docs::docs [public],
    GET    "/api/problems"                    documents::problems::kinds [public],
    GET    "/api/problems/{kind}"             documents::problems::kind [public],
}

/// Returns the function as a router.
pub fn router<B: Backend>(api: Api<B>) -> Router {
    let limit = CallLimit::new(api.tenant_calls, api.clock);
    let router = refuse_others(routes::<B>()).layer(Extension(Arc::<PauseCache>::default()));
    let router = http::with_call_limit(http::with_problems(router), limit);
    let router = http::with_operators(router, &api.operators);
    http::with_access(router, &api.access).with_state(Arc::new(api))
}

/// Adds 405 for the paths of the other functions: API Gateway routes a call with an unsupported method to this
/// function.
fn refuse_others<B: Backend>(router: Router<Arc<Api<B>>>) -> Router<Arc<Api<B>>> {
    let mut methods = BTreeMap::<&str, Vec<&str>>::new();
    for (method, path) in upload::ROUTES.into_iter().chain(inspect::ROUTES).chain(operations::ROUTES) {
        methods.entry(path).or_default().push(method);
    }
    methods.into_iter().fold(router, |router, (path, mut methods)| {
        methods.sort_unstable();
        let allowed = methods.join(",");
        router.route(path, any(async move |uri: Uri| wrong_method(&uri, allowed)))
    })
}

fn wrong_method(uri: &Uri, allowed: String) -> Response {
    let detail = format!("{} supports only {allowed}", uri.path());
    let problem = Problem::new(Kind::MethodNotAllowed, detail);
    ([(header::ALLOW, allowed)], problem).into_response()
}

/// Runs the function with these job types and, if the deployment offers it, `image`, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_http::Error> {
    let registry = match config::image_function()? {
        Some(_) if registry.find(image::NAME).is_some() => {
            return Err("ImageJobs=true needs the name `image`, which a job type of this program has".into());
        }
        Some(function) => registry.with_registered(RegisteredType::new(image_registration(function))),
        None => registry,
    };
    let api = Api::<Deployed> {
        ports: Ports { store: aws.store()?.with_limits(tenant_limits()?), queues: aws.queues(), files: aws.files()? },
        records: aws.records()?,
        registry,
        job_types: Registrations {
            store: aws.store()?,
            pings: aws.queues(),
            targets: AllowedTargets::from_env(local_permissions()?.as_ref())?,
            root_secret: RootSecretReader::from_env(aws),
        },
        access: config::access()?,
        operators: config::operators()?,
        limits: Limits {
            max_file_bytes: config::max_file_bytes()?,
            retention_days: config::retention_days()?,
            job_time_limit_s: config::job_time_limit_s()?,
            max_queued_chunks: config::max_queued_chunks()?,
            stall_s: config::stall_s()?,
        },
        tenant_calls: config::tenant_calls()?,
        webhook_urls: webhook_policy(local_permissions()?.as_ref())?,
        queue_depths: QueueDepths::default(),
        clock: Timestamp::now,
    };
    http::serve("jobs-api", router(api)).await
}

fn tenant_limits() -> Result<TenantLimits, ConfigError> {
    let (active_jobs, work_calls) = (config::max_active_jobs()?, config::tenant_work_calls()?);
    let job_bytes_per_day = config::max_tenant_job_bytes_per_day()?;
    Ok(TenantLimits { active_jobs, work_calls, job_bytes_per_day, ..TenantLimits::default() })
}
