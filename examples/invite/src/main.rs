//! Entry point of the functions that run job types: the built-in ones and `invite`. One binary contains all three
//! functions. The name of the handler in the template selects the function.

use invite::{Invite, LogMailer};
use lambda_runtime::Error;
use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?).with(Invite { mailer: LogMailer });
    match std::env::var("_HANDLER").as_deref() {
        Ok("jobs-api") => jobs_api::serve(&aws, registry).await,
        Ok("create-job") => create_job::serve(&aws, registry).await,
        Ok("inspect") => inspect::serve(&aws, registry).await,
        _ => process_item::serve(&aws, registry).await,
    }
}
