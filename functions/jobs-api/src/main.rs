//! Entry point of `jobs-api`: Longshore's built-in job types on AWS.

use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?);
    jobs_api::serve(&aws, registry).await
}
