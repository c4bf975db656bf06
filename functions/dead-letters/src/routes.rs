//! Calls of this function.

use std::sync::Arc;

use axum::Router;
use longshore::config::{self, Aws};
use longshore::http;
use longshore::ports::Ports;
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store, TenantLimits};
use longshore_domain::timestamp::Timestamp;

use crate::function::DeadLetters;
use crate::{list, resolve, show};

longshore::routes! {
    openapi();
    [S: Store + DeadLetterRecords + 'static, Q: Queues + RedriveToSource + 'static] Arc<DeadLetters<S, Q>>;
    GET    "/api/dead-letters"                    list::list<S, Q>,
    POST   "/api/dead-letters/replay"             resolve::replay_job<S, Q>,
    GET    "/api/dead-letters/{letterId}"         show::show<S, Q>,
    DELETE "/api/dead-letters/{letterId}"         resolve::discard<S, Q>,
    POST   "/api/dead-letters/{letterId}/replay"  resolve::replay<S, Q>,
}

/// Returns the function as a router.
pub fn router<S, Q>(function: DeadLetters<S, Q>) -> Router
where
    S: Store + DeadLetterRecords + 'static,
    Q: Queues + RedriveToSource + 'static,
{
    let router = http::with_operators(http::with_problems(routes::<S, Q>()), &function.operators);
    http::with_access(router, &function.access).with_state(Arc::new(function))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let limits = TenantLimits { active_jobs: config::max_active_jobs()?, ..TenantLimits::default() };
    let function = DeadLetters {
        ports: Ports { store: aws.store()?.with_limits(limits), queues: aws.queues(), files: () },
        access: config::access()?,
        operators: config::operators()?,
        clock: Timestamp::now,
    };
    http::serve("dead-letters", router(function)).await
}
