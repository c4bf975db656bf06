//! Entry point of the functions that run job types: the built-in ones and `enrich`. One binary contains all three
//! functions. The name of the handler in the template selects the function.

use enrich::{Airlines, Enrich};
use lambda_runtime::Error;
use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?).with(Enrich { directory: Airlines });
    match std::env::var("_HANDLER").as_deref() {
        Ok("jobs-api") => jobs_api::serve(&aws, registry).await,
        Ok("create-job") => create_job::serve(&aws, registry).await,
        Ok("inspect") => inspect::serve(&aws, registry).await,
        _ => process_item::serve(&aws, registry).await,
    }
}
