//! Entry point of the functions that run job types, with the built-in ones, the examples and the probe.

use enrich::{Airlines, Enrich};
use invite::{Invite, LogMailer};
use lambda_runtime::Error;
use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;
use probe::{Brief, Bulk, Limited, Once, Probe, WithOutput};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry =
        builtin(aws.records()?, aws.files()?).with(Invite { mailer: LogMailer }).with(Enrich { directory: Airlines });
    let registry = registry.with(Probe).with(Bulk).with(Brief).with(Limited).with(Once).with(WithOutput);
    match std::env::var("_HANDLER").as_deref() {
        Ok("jobs-api") => jobs_api::serve(&aws, registry).await,
        Ok("create-job") => create_job::serve(&aws, registry).await,
        Ok("inspect") => inspect::serve(&aws, registry).await,
        _ => process_item::serve(&aws, registry).await,
    }
}
