//! Calls of this function.

use std::sync::Arc;

use axum::Router;
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::http;
use longshore::job_types::image::image_registration;
use longshore::ports::Ports;
use longshore::remote::RegisteredType;
use longshore_domain::ports::TenantLimits;
use longshore_domain::timestamp::Timestamp;

use crate::dead_letters::{list as dead_letters, resolve, show};
use crate::function::{Backend, Deployed, Operations};
use crate::queues::DeployedStatistics;
use crate::{failures, handlers, jobs, log, pauses, queues, retries, webhooks};

longshore::routes! {
    openapi();
    [B: Backend] Arc<Operations<B>>;
    GET    "/api/operations/jobs"                 jobs::list::list<B>,
    GET    "/api/operations/failures"             failures::list::list<B>,
    POST   "/api/operations/retries"              retries::create::create<B>,
    GET    "/api/operations/queues"               queues::list::list<B>,
    GET    "/api/operations/handlers"             handlers::list::list<B>,
    GET    "/api/operations/pauses"               pauses::list::list<B>,
    POST   "/api/operations/pauses"               pauses::create::create<B>,
    DELETE "/api/operations/pauses/{pauseId}"     pauses::end::end<B>,
    GET    "/api/operations/webhooks"             webhooks::list::list<B>,
    GET    "/api/operations/log"                  log::list::list<B>,
    GET    "/api/dead-letters"                    dead_letters::list<B>,
    POST   "/api/dead-letters/replay"             resolve::replay_job<B>,
    GET    "/api/dead-letters/{letterId}"         show::show<B>,
    DELETE "/api/dead-letters/{letterId}"         resolve::discard<B>,
    POST   "/api/dead-letters/{letterId}/replay"  resolve::replay<B>,
}

/// Returns the function as a router.
pub fn router<B: Backend>(function: Operations<B>) -> Router {
    let router = http::with_operators(http::with_problems(routes::<B>()), &function.operators);
    http::with_access(router, &function.access).with_state(Arc::new(function))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let limits = TenantLimits { active_jobs: config::max_active_jobs()?, ..TenantLimits::default() };
    let registry = Registry::default();
    let function = Operations::<Deployed> {
        ports: Ports { store: aws.store()?.with_limits(limits), queues: aws.queues(), files: aws.files()? },
        statistics: DeployedStatistics::from_env(aws)?,
        log: aws.operator_log()?,
        registry: match config::image_function()? {
            Some(function) => registry.with_registered(RegisteredType::new(image_registration(function))),
            None => registry,
        },
        access: config::access()?,
        operators: config::operators()?,
        retention_days: config::retention_days()?,
        clock: Timestamp::now,
    };
    http::serve("operations", router(function)).await
}
