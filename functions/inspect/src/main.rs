//! Entry point of `inspect`: Longshore's built-in job types, and the uploads of the bucket.

use longshore::config::Aws;
use longshore::job_types::builtin;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?);
    inspect::serve(&aws, registry).await
}
