//! Entry point of `complete-job` on AWS.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    complete_job::serve(&Aws::from_env().await?).await
}
