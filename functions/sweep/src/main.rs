//! Entry point of `sweep`: one run per invocation, on AWS.

use std::time::Instant;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use longshore::config::{self, Aws, take_calls};
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::ports::TenantLimits;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};
use sweep::{Sweep, read_dead_letters};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    // A schedule makes no job above the limit of its tenant.
    let limits = TenantLimits { active_jobs: config::max_active_jobs()?, ..TenantLimits::default() };
    let ports = Ports { store: aws.store()?.with_limits(limits), queues: aws.queues(), files: aws.files()? };
    let (dead_letters, stall_s) = (aws.dead_letters()?, config::stall_s()?);
    let retention_days = config::retention_days()?;
    let (ports, queues) = (&ports, &dead_letters);
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        let (started, deadline) = (Instant::now(), Timestamp(event.context.deadline as i64 - 5_000));
        // Most of the time is reserved for jobs, regardless of the number of dead letters.
        let (now, remaining_ms) = (Timestamp::now(), deadline.millis_since(Timestamp::now()));
        let in_time = || Timestamp::now().millis_since(now) < remaining_ms / 4;
        let dead_letters = read_dead_letters(&ports.store, queues, now, &in_time).await;
        let (ports, clock) = (ports.clone(), Timestamp::now as fn() -> Timestamp);
        let sweep = Sweep { ports, dead_letters, stall_s, retention_days, clock };
        let summary = sweep.run(deadline).await;
        telemetry::record_invocation("sweep", started, &take_calls());
        Ok::<_, Error>(json!({ "jobs": summary.jobs, "pushes": summary.pushes, "failures": summary.failures }))
    }))
    .await
}
