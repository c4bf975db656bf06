//! The function on Lambda, configured from the environment.

use longshore::config::{self, Aws};
use longshore::http;
use longshore::ports::Ports;
use longshore_domain::ports::TenantLimits;
use longshore_domain::time_stamp::Timestamp;

use crate::function::DeadLetters;
use crate::routes::router;

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
