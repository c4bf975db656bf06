//! Entry point of `process-item`: Longshore's built-in job types on AWS.

use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?);
    process_item::serve(&aws, registry).await
}
