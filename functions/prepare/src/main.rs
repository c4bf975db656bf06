//! Entry point of `prepare` on AWS.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    prepare::serve(&Aws::from_env().await?).await
}
